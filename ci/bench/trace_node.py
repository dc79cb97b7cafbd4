"""What runs of packages of Node, held against an index, as `ci.bench.traces` does it for Python.

A package of the registry that has its tests in it is indexed. A copy in which each function says first that it was entered runs them
(`trace_run.cjs`): V8's stack says who called. A function without a name of its own counts as the one around it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ci.bench.trace_compare import Compared, Contradicted, Known, Missed
from indexer.languages import JAVASCRIPT
from indexer.syntax import parse
from indexer.syntax.tree.grammars import grammar_of
from query.facts.index import open_index

_FUNCTIONS = frozenset(
    (
        *("function_declaration", "generator_function_declaration", "function_expression", "generator_function"),
        *("arrow_function", "method_definition"),
    )
)
_MARK = "__entered"
_TIMEOUT_S = 300


Edge = tuple[tuple[str, int, int], str, bool]
"""Path, line and column of a call in the text that ran; the number of the function, behind its path; whether something was between."""


class NodePackage(NamedTuple):
    """`requirement`: the package, with its version. `tests`: a pattern of the files that run. `needs`: what these need beside it."""

    requirement: str
    tests: str
    needs: tuple[str, ...]


_TAPE = "tape@5.9.0"
NODE_PACKAGES: Mapping[str, NodePackage] = {
    "qs": NodePackage(
        "qs@6.14.0",
        "test/*.js",
        (
            *(_TAPE, "es-value-fixtures@1.7.1", "has-bigints@1.1.0", "has-override-mistake@1.0.1", "has-property-descriptors@1.0.2"),
            *("has-proto@1.2.0", "has-symbols@1.1.0", "iconv-lite@0.6.3", "mock-property@1.1.0", "object-inspect@1.13.4"),
            *("qs-iconv@1.0.4", "safer-buffer@2.1.2", "for-each@0.3.5"),
        ),
    ),
    "minimist": NodePackage("minimist@1.2.8", "test/*.js", (_TAPE,)),
    "resolve": NodePackage("resolve@1.22.10", "test/*.js", (_TAPE, "array.prototype.map@1.0.8", "mv@2.1.1", "semver@6.3.1")),
    "object-inspect": NodePackage(
        "object-inspect@1.13.4",
        "test/*.js",
        (
            *(_TAPE, "for-each@0.3.5", "functions-have-names@1.2.3", "glob@7.2.3", "globalthis@1.0.4", "has-symbols@1.1.0"),
            *("has-tostringtag@1.0.2", "error-cause@1.0.8", "string.prototype.repeat@1.0.0", "make-arrow-function@1.2.0"),
            *("mock-property@1.1.0", "es-value-fixtures@1.7.1"),
        ),
    ),
}
"""Their archives have their tests, which few of the registry's have."""


@dataclass(slots=True)
class Instrumented:
    """A text as it runs. moved: by line the columns, as they were, before which something stands now, and how long that is.

    functions: start and end in the text as it was, and the line and column of the name of the symbol that each is or stands in.
    """

    text: str
    moved: dict[int, list[tuple[int, int]]] = field(default_factory=dict[int, "list[tuple[int, int]]"])
    functions: list[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = field(
        default_factory=list[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]]
    )

    def back(self, line: int, col: int) -> tuple[int, int]:
        """The place as it was of one in the text that runs."""
        gone = 0
        for before, length in self.moved.get(line, ()):
            if before + gone + length <= col:
                gone += length
        return line, col - gone

    def around(self, line: int, col: int) -> Iterator[int]:
        """The functions around a place, the innermost first."""
        found = [number for number, (start, end, _) in enumerate(self.functions) if start <= (line, col) < end]
        return iter(sorted(found, key=lambda number: self.functions[number][0], reverse=True))


def instrument(path: str, source: bytes) -> Instrumented:
    """Each function says with its number that it was entered, in the line that it begins in; no line more."""
    text = source.decode("utf-8", "replace")
    cuts: list[tuple[tuple[int, int], str]] = []
    places: list[tuple[tuple[int, int], tuple[int, int]]] = []

    def place(point: Any) -> tuple[int, int]:
        return point.row, len(lines[point.row][: point.column].decode("utf-8", "replace"))

    def visit(node: Any) -> None:
        body = node.child_by_field_name("body") if node.type in _FUNCTIONS else None
        if body is not None:
            word = f'{_MARK}("{path}:{len(places)}")'
            places.append((place(node.start_point), place(node.end_point)))
            if body.type == "statement_block":
                first = body.named_children[0] if body.named_children else None
                is_directive = first is not None and first.type == "expression_statement" and first.named_children[0].type == "string"
                at = place(first.end_point) if first is not None and is_directive else _after(place(body.start_point))
                cuts.append((at, f";{word};"))
            else:
                cuts.extend([(place(body.start_point), f"({word},"), (place(body.end_point), ")")])
        for child in node.children:
            visit(child)

    lines = source.split(b"\n")
    visit(grammar_of(JAVASCRIPT.name, path).parser.parse(source).root_node)
    made = Instrumented(text)
    running = text.split("\n")
    for (line, col), word in sorted(cuts, key=lambda cut: cut[0], reverse=True):
        running[line] = running[line][:col] + word + running[line][col:]
    for (line, col), word in sorted(cuts, key=lambda cut: cut[0]):
        made.moved.setdefault(line, []).append((col, len(word)))
    made.text = "\n".join(running)
    syntax = parse(JAVASCRIPT.name, path, made.text.encode(), "")
    names: dict[int, tuple[int, int]] = {}
    for token, name in enumerate(syntax.tokens.name):
        if name == _MARK:
            line, end = syntax.tokens.line[token], syntax.tokens.end_col[token]
            number = int(running[line][end:].split('"', 2)[1].rpartition(":")[2])
            ordinal = syntax.tokens.enclosing[token]
            selection = syntax.symbols[ordinal].selection
            names[number] = made.back(selection.line, selection.col) if ordinal > 0 else (-1, -1)
    made.functions = [(start, end, names.get(number, (-1, -1))) for number, (start, end) in enumerate(places)]
    return made


def _after(place: tuple[int, int]) -> tuple[int, int]:
    return place[0], place[1] + 1


class Traced(NamedTuple):
    """What ran, and the texts that ran, by path."""

    edges: Sequence[Edge]
    texts: Mapping[str, Instrumented]


def traced(folder: Path, package: NodePackage, root: Path) -> Traced:
    running = folder / f"{root.name}-running"
    texts = _copy(root, running)
    return Traced(_run(running, package.tests, folder / f"trace-{root.name}.json"), texts)


def compare(root: Path, trace: Traced, without: Collection[str] = ()) -> dict[str, Compared]:
    """The index of `root`, which must be there, against what ran.

    Args:
        without: evidence of which no call of the index counts.
    """
    with open_index(root) as index:
        known = Known(index, without)
        symbols = {
            (path, line, col): symbol
            for symbol, path, line, col in index.rows("SELECT symbol, path, sel_line, sel_col FROM symbols WHERE NOT is_external")
        }
        modules = {
            path: symbol for symbol, path in index.rows("SELECT symbol, path FROM symbols WHERE kind = 'module' AND NOT is_external")
        }
    return _compared(trace.edges, trace.texts, known, symbols, modules, root)


def _compared(
    edges: Sequence[Edge],
    texts: Mapping[str, Instrumented],
    known: Known,
    symbols: Mapping[tuple[str, int, int], str],
    modules: Mapping[str, str],
    root: Path,
) -> dict[str, Compared]:
    def own(path: str, number: int) -> str:
        """The symbol that a function is; "" where it has none of its own."""
        start, _, name = texts[path].functions[number]
        outer = [other for other in texts[path].around(*start) if other != number]
        is_named = name != (-1, -1) and all(texts[path].functions[other][2] != name for other in outer)
        return symbols.get((path, *name), "") if is_named else ""

    def caller_at(path: str, line: int, col: int) -> str:
        return next((symbol for number in texts[path].around(line, col) if (symbol := own(path, number))), modules.get(path, ""))

    made = {"within": Compared(), "from tests": Compared()}
    done: set[tuple[str, str]] = set()
    led: dict[tuple[str, int, int], set[str]] = {}
    for (path, line, col), word, between in sorted(edges, key=lambda edge: edge[2]):
        callee_path, _, number = word.rpartition(":")
        if path not in texts or callee_path not in texts:
            continue
        place = texts[path].back(line, col)
        callee, caller = own(callee_path, int(number)), caller_at(path, *place)
        if not between:
            led.setdefault((path, *place), set()).add(callee)
        if not callee or not caller or (caller, callee) in done or _is_test(callee_path):
            continue
        done.add((caller, callee))
        group = made["from tests" if _is_test(path) else "within"]
        callees = known.meant(callee, known.names.get(callee, ""))
        if known.kinds.get(callee) == "constructor":
            callees = [callee, known.owner.get(callee, "")]
        is_named = known.told([caller], callees, known.pairs)
        if between:
            group.between, group.between_named = group.between + 1, group.between_named + is_named
            continue
        group.pairs += 1
        if is_named:
            group.named += 1
        elif known.told([caller], known.above(callee), known.pairs):
            group.overridden += 1
        elif known.told([caller], callees, known.possible):
            group.possible += 1
        elif (path, place[0] + 1) in known.gaps:
            group.gap += 1
        else:
            cause = _cause((root / path).read_text(encoding="utf-8", errors="replace").split("\n")[place[0]], place[1])
            group.missed.append(Missed(caller=caller, callee=callee, path=path, line=place[0] + 1, cause=cause))
    for (path, line, col), ran in sorted(led.items()):
        group = made["from tests" if _is_test(path) else "within"]
        for callee, evidence, _ in known.at.get((path, line + 1, col), ()) if "" not in ran else ():
            if known.kinds.get(callee) not in ("function", "method") or _is_test(known.paths[callee]):
                continue
            is_true = any(callee in (other, *known.above(other)) for other in ran)
            true, false = group.judged.get(evidence, (0, 0))
            group.judged[evidence] = (true + is_true, false + (not is_true))
            if not is_true:
                group.contradicted.append(Contradicted(callee=callee, path=path, line=line + 1, evidence=evidence, ran=sorted(ran)))
    return made


def _is_test(path: str) -> bool:
    return path.startswith(("test/", "tests/"))


def _cause(line: str, col: int) -> str:
    """What stands at a call, in words."""
    if line[:col].rstrip().endswith("."):
        return "member of a receiver"
    return (
        "class"
        if line[col:].startswith("new ")
        else "variable"
        if col < len(line) and (line[col].isalpha() or line[col] in "_$")
        else "expression"
    )


def _copy(root: Path, running: Path) -> dict[str, Instrumented]:
    """Writes the copy that runs; by path, its texts."""
    shutil.rmtree(running, ignore_errors=True)
    shutil.copytree(root, running, symlinks=True, ignore=shutil.ignore_patterns("node_modules", ".lspidx", ".git"))
    (running / "node_modules").symlink_to(root / "node_modules")
    texts: dict[str, Instrumented] = {}
    for file in sorted(running.rglob("*.js")):
        path = file.relative_to(running).as_posix()
        if "node_modules" in file.parts or not file.is_file() or file.is_symlink():
            continue
        made = instrument(path, file.read_bytes())
        file.write_text(made.text, encoding="utf-8")
        texts[path] = made
    return texts


def _run(running: Path, pattern: str, out: Path) -> list[Edge]:
    """What ran of all files of tests, each in a process of its own; what fails there is left out of the edges, and nothing else."""
    node = shutil.which("node")
    assert node is not None, "Node is needed: make toolchains"
    found: list[Edge] = []
    for file in sorted(running.glob(pattern)):
        out.unlink(missing_ok=True)
        command = [node, str(Path(__file__).with_name("trace_run.cjs")), str(running), str(out), str(file)]
        subprocess.run(command, cwd=running, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=False)
        if out.is_file():
            found += [
                ((path, line, col), word, between) for (path, line, col), word, between in json.loads(out.read_text(encoding="utf-8"))
            ]
    return found


def sources(folder: Path, package: NodePackage) -> Path:
    """The package with what its tests need, as one commit of a repository of its own, unpacked where it is not there."""
    root = folder / package.requirement.replace("@", "-")
    if not (root / ".git").is_dir():
        shutil.rmtree(root, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(["npm", "pack", "--silent", package.requirement], cwd=folder, check=True, capture_output=True, text=True)
        root.mkdir()
        subprocess.run(
            ["tar", "-xzf", str(folder / packed.stdout.strip().split("\n")[-1]), "--strip-components=1", "-C", str(root)], check=True
        )
        beside = folder / f"needs-{root.name}"  # in the package's own folder npm would go by what that declares for its authors
        beside.mkdir(exist_ok=True)
        words = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", package.requirement, *package.needs]
        subprocess.run(words, cwd=beside, check=True, stdout=subprocess.DEVNULL)
        shutil.copytree(beside / "node_modules", root / "node_modules", symlinks=True)
        (root / ".gitignore").write_text("node_modules/\n", encoding="utf-8")
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]):
            subprocess.run(["git", *words], cwd=root, check=True)
    return root
