"""Cases of C and C++ in text archives, compiled so that each function says when it is entered and left, and run.

A case is `=== name` and a text, `main.cc` or `main.c`; further files follow, each behind a line `--- path`. No two functions share a line:
by the line of a function it is told which one it is. What the compiler makes of a type by itself (a constructor, a destructor, a copy) has
the line of the type's head, and is told as the type. What has no body of its own in the index (a lambda) is told as what is around it.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.model import CALLABLE_KINDS, TYPE_KINDS
from indexer.syntax import parse

Place = tuple[str, int, int]
"""File within the case, line and column of a name, 0-based."""

ENDINGS = {"c": "c", "cpp": "cc"}
_TRACER = Path(__file__).with_name("cpp_trace.c")
_FLAGS = ("-gdwarf-4", "-O0", "-w", "-finstrument-functions", "-no-pie", "-fno-pie")
_STANDARD = {"c": "-std=gnu11", "cpp": "-std=c++20"}
_OF_PROGRAM = re.compile(r"_GLOBAL__|__static_initialization|__tcf_|__tls_init|^_ZT[WH]")
"""Functions by which a compiler runs what stands outside of functions."""
_OF_LAMBDA = re.compile(r"Ul\w*E\d*_cl")
_WITH_CAPITAL = re.compile(r"\b(?!SIG)[A-Z]\w*")
_WITH_LIBRARY = "#include <"


@dataclass(frozen=True)
class Case:
    """`files`: by path, `main` first. `language`: LSP id."""

    name: str
    language: str
    files: dict[str, str]


@dataclass(frozen=True)
class Ran:
    """One function ran another. Places; None: what stands outside of functions. `by_library`: one of a library stood between them."""

    caller: Place | None
    callee: Place
    by_library: bool


@dataclass(frozen=True)
class _Frame:
    """A function that runs. `place`: None for what stands outside of functions."""

    place: Place | None
    is_lambda: bool = False


_LIBRARY = _Frame(None)
_PROGRAM = _Frame(None)


def cases_of(path: Path, language: str) -> list[Case]:
    made: list[Case] = []
    for part in path.read_text(encoding="utf-8").split("\n=== ")[1:]:
        name, _, text = part.partition("\n")
        first, *others = text.split("\n--- ")
        files = {f"main.{ENDINGS[language]}": first.rstrip() + "\n"}
        for other in others:
            file, _, source = other.partition("\n")
            files[file] = source.rstrip() + "\n"
        made.append(Case(f"{language}_{name}", language, {file: _of_case(source, name) for file, source in files.items()}))
    return made


def _of_case(source: str, name: str) -> str:
    """Names with a capital get that of the case, for types of one name in several programs are one type to a server's index."""
    return _WITH_CAPITAL.sub(lambda match: f"{match[0]}_{name}", source)


def run(cases: Sequence[Case], folder: Path) -> dict[str, set[Ran]]:
    """By case: who ran whom."""
    tracer = folder / "trace.o"
    _do("cc", "-O1", "-c", _TRACER, "-o", tracer)
    library = _precompiled(cases, folder)
    found: dict[str, set[Ran]] = {}
    for case in cases:
        root = folder / case.name
        for file, text in case.files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text, encoding="utf-8")
        sources = [root / file for file in case.files if not file.endswith((".h", ".hh"))]
        needs = case.language == "cpp" and any(_WITH_LIBRARY in text for text in case.files.values())
        compiler = "cc" if case.language == "c" else "c++"
        more = ("-include", library) if needs else ()
        _do(compiler, *_FLAGS, _STANDARD[case.language], *more, *sources, tracer, "-o", root / "program")
        subprocess.run([str(root / "program")], timeout=20, check=False, cwd=root, stdout=subprocess.DEVNULL)
        found[case.name] = _without_idle(set(_edges(case, root)), _types(case))
    return found


def _without_idle(edges: set[Ran], types: set[Place]) -> set[Ran]:
    """Without what the compiler makes of types and what runs nothing that is written."""
    lively: set[Place] = set()
    while True:
        found = {edge.caller for edge in edges if edge.caller is not None and (edge.callee not in types or edge.callee in lively)} & types
        if found <= lively:
            return {edge for edge in edges if edge.callee not in types or edge.callee in lively}
        lively |= found


def _do(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _precompiled(cases: Sequence[Case], folder: Path) -> Path:
    """All that the cases include of the library, read once."""
    included = {
        line
        for case in cases
        if case.language == "cpp"
        for text in case.files.values()
        for line in text.split("\n")
        if _WITH_LIBRARY in line
    }
    header = folder / "library.hh"
    header.write_text("\n".join(sorted(included)) + "\n", encoding="utf-8")
    if included:
        _do("c++", *_FLAGS, _STANDARD["cpp"], "-x", "c++-header", header, "-o", folder / "library.hh.gch")
    return header


def _edges(case: Case, root: Path) -> Iterator[Ran]:
    words = [word for (word,) in struct.iter_unpack("<q", (root / "trace").read_bytes())]
    places = _places(case, root, {word for word in words if word})
    stack: list[_Frame] = []
    for word in words:
        if not word:
            stack.pop()
            continue
        entered = places[word]
        caller = next((frame for frame in reversed(stack) if frame is not _LIBRARY), None)
        place = caller.place if caller else None
        if entered.place is not None and not entered.is_lambda and place != entered.place:
            yield Ran(place, entered.place, bool(stack) and stack[-1] is _LIBRARY)
        stack.append(entered)


def _places(case: Case, root: Path, addresses: Iterable[int]) -> dict[int, _Frame]:
    """By address: which function starts there."""
    asked = sorted(addresses)
    if not asked:
        return {}
    told = _do("addr2line", "-f", "-e", root / "program", *(hex(address) for address in asked)).split("\n")
    functions = {file: _functions(case.language, file, text) for file, text in case.files.items()}
    found: dict[int, _Frame] = {}
    for address, name, at in zip(asked, told[::2], told[1::2], strict=False):
        path, _, line = at.partition(" ")[0].rpartition(":")
        inside = Path(path).is_relative_to(root) if path.startswith("/") else False
        if _OF_PROGRAM.search(name):
            found[address] = _PROGRAM
        elif not inside:
            found[address] = _LIBRARY
        else:
            file = Path(path).relative_to(root).as_posix()
            place = functions[file].get(int(line) - 1)  # none where a macro makes the function
            found[address] = _Frame(place, _OF_LAMBDA.search(name) is not None)
    return found


def _types(case: Case) -> set[Place]:
    return {
        (file, symbol.selection.line, symbol.selection.col)
        for file, text in case.files.items()
        for symbol in parse(case.language, file, text.encode(), "").symbols
        if symbol.kind in TYPE_KINDS
    }


def _functions(language: str, file: str, text: str) -> dict[int, Place]:
    """By line: the innermost function there, else the innermost type."""
    syntax = parse(language, file, text.encode(), "")
    found: dict[int, Place] = {}
    for kinds in (TYPE_KINDS, CALLABLE_KINDS):
        spans = [
            (span, symbol.selection) for symbol in syntax.symbols if symbol.kind in kinds for span in (symbol.span, *symbol.extra_ranges)
        ]
        for span, selection in sorted(spans):
            for line in range(span.line, span.end_line + 1):
                found[line] = (file, selection.line, selection.col)
    return found
