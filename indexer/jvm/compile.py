"""Runs the JDK's compiler over the sources of a workspace, by a program of ours (`Names.java`) that writes what each name means.

The compiler reads texts and class files and runs nothing of the repository: annotation processors are off, no plugin of a class path is
loaded, nothing is generated. Errors stop nothing: what a file that does not compile still means is written all the same.

Sources lie in roots, the folders that packages start from. Two roots may have a file of one name in one package (examples, sources for
several releases of Java). They are compiled in different rounds, in which each sees its own.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from indexer.declared_package import declared_package
from indexer.languages import JAVA

_MODULE, _PACKAGE = "module-info.java", "package-info.java"
_OF_NO_TYPE = frozenset((_MODULE, _PACKAGE))
_PROGRAM = Path(__file__).with_name("Names.java")
_LAUNCHER = JAVA.name
_MOST_S = 1_500.0
"""Of all rounds. What a round that was ended has written counts."""

_PART_BYTES = 1 << 16
_SWITCHES = ("JDK_JAVAC_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
_LEAST_HEAP_MB, _STACK_MB = 512, 16


class Source(NamedTuple):
    """A file, absolute; the root that it lies in, and its path from there."""

    path: str
    root: str
    place: str

    @property
    def holds_type(self) -> bool:
        return os.path.basename(self.path) not in _OF_NO_TYPE


class Written(NamedTuple):
    """What one round has written, and the sources that it is about. `is_ended`: it took too long, or the compiler failed."""

    file: Path
    sources: list[Source]
    is_ended: bool


def sources_of(paths: Iterable[str]) -> Iterator[Source]:
    """These absolute paths with their roots: the folder above as many as the package has parts, where they are named so."""
    for path in paths:
        folder = os.path.dirname(path)
        parts = declared_package(path, JAVA.name).split(".")
        above = folder.split("/")
        root = "/".join(above[: -len(parts)]) if parts != [""] and above[-len(parts) :] == parts else folder
        yield Source(path, root or "/", os.path.relpath(path, root or "/"))


def rounds(sources: Iterable[Source]) -> list[list[Source]]:
    """The sources by root, roots that have the same places in different rounds.

    A root goes where another one of its module is (tests beside what they test), else into the first round that can take it.
    """
    by_root: dict[str, list[Source]] = {}
    for source in sources:
        by_root.setdefault(source.root, []).append(source)
    made: list[_Round] = []
    for root in sorted(by_root, key=lambda root: (root.count("/"), root)):
        places = {item.place for item in by_root[root] if item.holds_type}
        module = _module_of(root)
        free = [one for one in made if one.places.isdisjoint(places)]
        into = next((one for one in free if module in one.modules), free[0] if free else None)
        if into is None:
            made.append(into := _Round(set(), set(), []))
        into.places.update(places)
        into.modules.add(module)
        into.sources.extend(by_root[root])
    return [one.sources for one in made]


class _Round(NamedTuple):
    places: set[str]
    modules: set[str]
    sources: list[Source]


def _module_of(root: str) -> str:
    """The folder of the module that a root is of, as Maven and Gradle lay it out; else the root itself."""
    return f"{root}/".partition("/src/")[0]


def compile_all(
    javac: str, paths: Iterable[str], class_path: Sequence[str], folder: Path, heap_mb: int, say: Callable[[int, int], None]
) -> Iterator[Written]:
    """Compiles round by round. `folder` is empty, and everything that is written lies there.

    Args:
        say: told now and then how many sources are done, and of how many.
    """
    deadline = time.monotonic() + _MOST_S
    java = str(Path(os.path.realpath(javac)).with_name(_LAUNCHER))
    made = rounds(sources_of(paths))
    roots = list(dict.fromkeys(source.root for members in made for source in members))
    done, total = 0, sum(len(members) for members in made)

    def count(more: int) -> None:
        nonlocal done
        done = min(total, done + more)
        say(done, total)

    for number, members in enumerate(made):
        place = folder / str(number)
        place.mkdir(parents=True)
        own = dict.fromkeys(source.root for source in members)
        others = [*own, *(root for root in roots if root not in own)] if number else []
        said = place / "names.txt"
        words = [str(_PROGRAM), str(said), str(_listed(members, place)), *_switches(place, class_path, others)]
        yield Written(said, members, _run([java, *_of_process(place, heap_mb), *words], place, deadline, count))


def _switches(place: Path, class_path: Sequence[str], source_path: Sequence[str]) -> Iterator[str]:
    nothing = str(place / "nothing")  # without a word it would be the folder that it is started in
    yield from ("-classpath", os.pathsep.join(class_path) or nothing)
    yield from ("-sourcepath", os.pathsep.join(source_path) or nothing)


def _of_process(place: Path, heap_mb: int) -> Iterator[str]:
    yield from (f"-Xmx{max(heap_mb, _LEAST_HEAP_MB)}m", f"-Xss{_STACK_MB}m", "-XX:+UseSerialGC", "-XX:-UsePerfData")
    yield from ("-Djava.awt.headless=true", f"-Djava.io.tmpdir={place}", f"-Duser.home={place}")


def _listed(members: Sequence[Source], place: Path) -> Path:
    """A file of paths, without the declarations of modules: two of them exclude each other, and one closes packages to the others."""
    listed = place / "sources.txt"
    compiled = (source.path for source in members if "\n" not in source.path and os.path.basename(source.path) != _MODULE)
    listed.write_text("".join(f"{path}\n" for path in compiled), encoding="utf-8", errors="surrogateescape")
    return listed


def _run(command: Sequence[str], place: Path, deadline: float, count: Callable[[int], None]) -> bool:
    """Whether it did not come to its end. Errors of the sources are none of its own. Each byte that it says is a source that is done."""
    with subprocess.Popen(
        command, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
    ) as process:
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        while True:
            readable, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                process.send_signal(signal.SIGKILL)
                break
            if not (said := os.read(pipe, _PART_BYTES)):
                break
            count(len(said))
        try:
            return process.wait(max(0.0, deadline - time.monotonic())) != 0
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        return process.wait() != 0


def _environment() -> Mapping[str, str]:
    """Without the variables by which a JDK takes more switches."""
    own = {name: value for name, value in os.environ.items() if name not in _SWITCHES}
    return {**own, "LC_ALL": "C.UTF-8"}  # names of files
