"""The phases of the command line, where each call is a process: kept in the folder of the index, beside it.

`skill.json` is there while a skill is active. It is read and replaced under a lock, so that processes do not lose each other's calls.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from indexer import plain_files
from indexer.errors import ConfigError, Damaged, Locked, NoIndex, Storage, UnsafeIndex
from indexer.store.generations import Home, find_home
from query.skills.session import Phases, Slot

if TYPE_CHECKING:
    from query.skills.phases import Mode, State

_FILE, _LOCK = "skill.json", "skill.lock"
_MAX_BYTES = 100_000
_WAIT_S = 20


class KeptPhases(Phases):
    """The skill that is active on the command line, for the index at or around `start`. Without an index none can be."""

    def __init__(self, start: Path) -> None:
        super().__init__()
        self._start = start

    def activate(self, name: str, mode: Mode) -> State:
        """As `Phases.activate`.

        Raises:
            NoIndex: there is no folder to keep the state in.
        """
        if self._home() is None:
            raise NoIndex(
                f"the phases of a skill are kept beside the index, and none is in '{self._start}' or above it; to make one: lspidx index"
            )
        return super().activate(name, mode)

    def deactivate(self) -> str:
        """As `Phases.deactivate`; a state that nobody can read is removed too."""
        try:
            return "" if self._idle() else super().deactivate()
        except ConfigError:
            if (home := self._home()) is not None:
                (home.path / _FILE).unlink(missing_ok=True)
            return ""

    def _idle(self) -> bool:
        home = self._home()
        return home is None or not os.path.lexists(home.path / _FILE)

    @contextlib.contextmanager
    def _alone(self) -> Generator[Slot]:
        home = self._home()
        if home is None:
            yield Slot(None)
            return
        with self._lock, _locked(home):
            before = _read(home.path / _FILE)
            slot = Slot(before)
            try:
                yield slot
            finally:  # a refusal is kept too
                if slot.state is not before:
                    _write(home.path / _FILE, slot.state)

    def _home(self) -> Home | None:
        try:
            return find_home(self._start)
        except Damaged as error:  # the skill holds all the same
            return Home(error.file.parent.parent)
        except NoIndex:
            return None


@contextlib.contextmanager
def _locked(home: Home) -> Generator[None]:
    """Raises Locked if somebody holds the lock for `_WAIT_S`: it is held for the length of one reading and writing."""
    import portalocker

    wrong = plain_files.fault_of(home.path / _LOCK, folder=False)
    if wrong:
        raise UnsafeIndex(f"'{home.path / _LOCK}' is {wrong}, and lspidx makes nothing of that kind; remove it")
    try:
        with portalocker.Lock(home.path / _LOCK, "a", timeout=_WAIT_S):
            yield
    except OSError as error:
        raise Storage(f"cannot write '{home.path / _LOCK}': {error.strerror}; make it writable, or remove it") from error
    except portalocker.LockException as error:
        raise Locked(f"another process holds '{home.path / _LOCK}'; wait for it, or end it") from error


def _read(file: Path) -> State | None:
    """The state; None where no skill is active.

    Raises:
        ConfigError: what is there is no state of this version.
    """
    import msgspec

    from indexer.store import sealed
    from query.skills.phases import State
    from query.skills.table import skills

    wrong = f"'{file}' does not say which phase the active skill is in; to go on without it: lspidx query deactivate_skill"
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise ConfigError(wrong)
        with file.open("rb") as opened:
            content = opened.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"'{file}' cannot be read: {error.strerror}; make it readable, or remove it") from error
    try:
        state = msgspec.json.decode(sealed.unsealed(content, file, "skill"), type=State)
    except (msgspec.DecodeError, UnicodeDecodeError, Damaged) as error:
        raise ConfigError(wrong) from error
    skill = skills().get(state.skill)
    if skill is None or not 0 <= state.phase < len(skill.phase):
        raise ConfigError(wrong)
    return state


def _write(file: Path, state: State | None) -> None:
    """Replaces the file in one step; removes it where no skill is active."""
    import tempfile

    import msgspec

    from indexer.store import sealed

    if state is None:
        file.unlink(missing_ok=True)
        return
    handle, name = tempfile.mkstemp(prefix=f"{file.name}-", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as beside:
            beside.write(sealed.sealed(msgspec.json.encode(state), "skill"))
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
