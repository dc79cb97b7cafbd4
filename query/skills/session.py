"""Who is in which phase: one object for each session, in memory here; see `query.skills.kept` for one on disk.

What enforces is loaded when a skill is active: most calls are made without one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING

import msgspec

from indexer.errors import UsageError

if TYPE_CHECKING:
    from query.skills.phases import Mode, State

log = logging.getLogger(__name__)

ALWAYS = frozenset({"activate_skill", "deactivate_skill", "get_skill_phase"})
"""What is about the phases themselves belongs to none."""


class Slot:
    """The state while nobody else can change it."""

    def __init__(self, state: State | None) -> None:
        self.state = state


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was let through, and in which phase of which activation. `serial` is empty where no skill was active."""

    tool: str
    serial: str = ""
    phase: int = 0
    warnings: list[str] = []


class Phases:
    """The skill of one session and how far it is. Any number of threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slot = Slot(None)

    def _idle(self) -> bool:
        """Whether no skill is active; asked before every call, so without waiting for anybody."""
        return self._slot.state is None

    @contextlib.contextmanager
    def _alone(self) -> Generator[Slot]:
        """The state, which nobody else reads or changes meanwhile; what is assigned to the slot stays."""
        with self._lock:
            yield self._slot

    def activate(self, name: str, mode: Mode) -> State:
        """Begins with the first phase.

        Raises:
            UsageError: no skill is called so, or one is active already.
        """
        from query.skills.phases import State
        from query.skills.table import find

        skill = find(name)
        with self._alone() as slot:
            if slot.state is not None:
                raise UsageError(
                    f"'{slot.state.skill}' is active, and only one skill can be at a time; "
                    f"end it with deactivate_skill, then activate '{name}'"
                )
            slot.state = State(serial=os.urandom(8).hex(), skill=skill.name, mode=mode)
            return slot.state

    def deactivate(self) -> str:
        """The skill that was active; empty where none was."""
        with self._alone() as slot:
            was, slot.state = slot.state, None
        return was.skill if was else ""

    def state(self) -> State | None:
        if self._idle():
            return None
        with self._alone() as slot:
            return slot.state

    def begin(self, tool: str, *, writes: bool) -> Ticket:
        """Before a tool is called.

        Args:
            tool: canonical name. writes: this call would change files.
        Raises:
            PhaseViolation: it may not be called now.
        """
        if tool in ALWAYS or self._idle():
            return Ticket(tool=tool)
        from query.skills.phases import called, judge, refused, violation
        from query.skills.table import find

        with self._alone() as slot:
            state = slot.state
            if state is None:
                return Ticket(tool=tool)
            skill = find(state.skill)
            verdict = judge(skill, state, tool, writes=writes)
            here = skill.phase[state.phase].name
            if verdict.refused:
                log.info("phase violation: skill=%s phase=%s tool=%s mode=%s", skill.name, here, tool, state.mode)
            if verdict.refused and state.mode == "block":
                slot.state = refused(state, tool, here)
                raise violation(skill, state, tool, verdict.refused)
            slot.state = called(state, tool, verdict.phase, violated=here if verdict.refused else "")
            warnings = [verdict.refused] if verdict.refused else []
            return Ticket(tool=tool, serial=state.serial, phase=verdict.phase, warnings=warnings)

    def finish(self, ticket: Ticket) -> None:
        """After the tool has answered without an error."""
        if not ticket.serial:
            return
        from query.skills.phases import answered
        from query.skills.table import find

        with self._alone() as slot:
            if slot.state is not None and slot.state.serial == ticket.serial:
                slot.state = answered(find(slot.state.skill), slot.state, ticket.tool, ticket.phase)


class NoSession(Phases):
    """For requests that belong to no session, so that nothing could be kept between two of them."""

    def activate(self, name: str, mode: Mode) -> State:
        """Raises UsageError, always."""
        raise UsageError(
            f"'{name}' cannot be activated: these requests belong to no session, so no phase can be kept between two of them; "
            "use a client that keeps a session, or the server over stdin"
        )


OF_PROCESS = Phases()
"""Of the Python functions: a program is one session."""
