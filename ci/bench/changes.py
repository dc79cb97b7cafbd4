"""`python -m ci.bench.changes`: are the tests that fail among those that `detect_changes` names, and how far up?

Functions of real packages are broken one at a time (a result that becomes None or its negation, a condition turned round), their own
test suites are run, and the change is put to `detect_changes` with the index of the unbroken package. Packages, versions, seed and
environment are pinned; sources come from the registry. `HELD_OUT` was never looked at while the ranking was made.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ci.bench import peer_changes, sdists

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "flask": ("flask==3.1.3", "flask-3.1.3"),
    "click": ("click==8.1.8", "click-8.1.8"),
    "itsdangerous": ("itsdangerous==2.2.0", "itsdangerous-2.2.0"),
    "attrs": ("attrs==25.3.0", "attrs-25.3.0"),
}
HELD_OUT = ("attrs",)
ENVIRONMENT = (
    "pytest==8.4.2", "blinker==1.9.0", "Jinja2==3.1.6", "Werkzeug==3.1.9", "MarkupSafe==3.0.4", "freezegun==1.5.5", "hypothesis==6.148.2",
    "cloudpickle==3.1.2",
)  # fmt: skip
SEED = 20251
BUDGETS = (1, 5, 10, 25, 50)
_TIMEOUT_S = 180
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::\S+)?)", re.MULTILINE)


class Mutant(NamedTuple):
    """A function and the text of its file with it broken. `path` relative to the package."""

    package: str
    path: str
    function: str
    kind: str
    line: int
    text: str


class Outcome(NamedTuple):
    """What its test suite said. Tests without their parameters, those that fail on the unbroken package left out."""

    mutant: Mutant
    failed: list[str]


class Judged(NamedTuple):
    """ranks: of the failing tests among those named, 1-based; missing ones are left out. likely: how many of the first are called so."""

    package: str
    function: str
    failed: int
    named: int
    likely: int
    all_tests: int
    ranks: list[int]
    ms: float


# ---- mutants


def mutants(package: str, folder: Path, number: int) -> list[Mutant]:
    """At most one for each function, drawn with a fixed seed."""
    chosen: list[Mutant] = []
    draw = random.Random(f"{SEED} {package}")
    for path in sorted((folder / "src").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        for name, function in _functions(tree, ""):
            edits = _edits(source, function)
            if edits:
                kind, line, text = draw.choice(edits)
                chosen.append(Mutant(package, path.relative_to(folder).as_posix(), name, kind, line, text))
    draw.shuffle(chosen)
    return chosen[:number]


def _functions(node: ast.AST, prefix: str) -> Iterable[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")


def _edits(source: str, function: ast.AST) -> list[tuple[str, int, str]]:
    """(what, line, the whole text with it) for everything in the function that can be broken in one place."""
    lines = source.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    raw = source.encode()
    found: list[tuple[str, int, str]] = []

    def replace(node: ast.expr, what: str, before: bytes, after: bytes, *, whole: bool) -> None:
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        text = raw[:begin] + before + (b"" if whole else raw[begin:end]) + after + raw[end:]
        try:
            ast.parse(text)
        except SyntaxError:
            return
        found.append((what, node.lineno, text.decode()))

    for node in ast.walk(function):
        if (
            isinstance(node, ast.Return)
            and node.value is not None
            and not (isinstance(node.value, ast.Constant) and node.value.value is None)
        ):
            replace(node.value, "returns None", b"None", b"", whole=True)
            replace(node.value, "returns the negation", b"not (", b")", whole=False)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            replace(node.test, "condition turned round", b"not (", b")", whole=False)
    return found


# ---- their test suites


def outcomes(folder: Path, python: Path, package: str, number: int, workers: int) -> tuple[list[Outcome], int]:
    """Runs the suite for each mutant, several copies of the package at a time; kept in `folder` for the next run. And: how many tests."""
    kept = folder / f"outcomes-{package}-{number}.json"
    origin = folder / PACKAGES[package][1]
    drawn = mutants(package, origin, number)
    if kept.is_file():
        known = json.loads(kept.read_text(encoding="utf-8"))
        return [Outcome(mutant, known["failed"][_key(mutant)]) for mutant in drawn if _key(mutant) in known["failed"]], known["tests"]
    copies = [folder / "runs" / f"{package}-{worker}" for worker in range(workers)]
    for copy in copies:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(origin, copy, ignore=shutil.ignore_patterns(".git", ".lspidx"))
    broken_before, tests = _run(copies[0], python)
    free = list(copies)

    def run(mutant: Mutant) -> list[str] | None:
        copy = free.pop()
        place = copy / mutant.path
        before = place.read_text(encoding="utf-8")
        try:
            place.write_text(mutant.text, encoding="utf-8")
            failed, _ = _run(copy, python)
        except subprocess.TimeoutExpired:
            return None
        finally:
            place.write_text(before, encoding="utf-8")
            free.append(copy)
        return sorted(set(failed) - set(broken_before))

    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(run, drawn))
    found = [Outcome(mutant, failed) for mutant, failed in zip(drawn, results, strict=True) if failed is not None]
    record = {"tests": tests, "failed": {_key(item.mutant): item.failed for item in found}}
    kept.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return found, tests


def _key(mutant: Mutant) -> str:
    return f"{mutant.path}:{mutant.line} {mutant.function} {mutant.kind}"


def _run(copy: Path, python: Path) -> tuple[list[str], int]:
    """Failing tests of a suite, and how many it has. A file that cannot be imported stands for itself."""
    command = [
        str(python),
        "-B",
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-rfE",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "--continue-on-collection-errors",
        "tests",
    ]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "COLUMNS": "400", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    failed = sorted({name.partition("[")[0] for name in _FAILED.findall(done.stdout)})
    total = sum(int(number) for number in re.findall(r"(\d+) (?:passed|failed|error|xfailed|xpassed)", done.stdout[-400:]))
    return failed, total


def _collected(copy: Path, python: Path) -> int:
    """How many tests there are, each once whatever its parameters, inherited ones too."""
    command = [str(python), "-B", "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-W", "ignore", "tests"]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    return len({line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line})


# ---- what is said about them


def judge(folder: Path, python: Path, package: str, found: Sequence[Outcome]) -> list[Judged]:
    """Puts each mutant to `detect_changes` as an unstaged change, with the index of the unbroken package."""
    from query.changes.diff import sides
    from query.changes.review import Ask, review
    from query.facts.completeness import Certificate
    from query.facts.index import open_index

    root = folder / PACKAGES[package][1]
    judged: list[Judged] = []
    with open_index(root) as index:
        all_tests = _collected(root, python)
        for mutant, failed in found:
            wanted = [name for name in failed if "::" in name]
            if not wanted or len(wanted) < len(failed):  # nothing failed, or whole files could not be imported
                continue
            place = root / mutant.path
            before = place.read_text(encoding="utf-8")
            try:
                place.write_text(mutant.text, encoding="utf-8")
                begun = time.perf_counter()
                said = review(index, Certificate(index), Ask(sides(index.root)))
                spent = (time.perf_counter() - begun) * 1000
            finally:
                place.write_text(before, encoding="utf-8")
            rank = {test.selector: number for number, test in enumerate(said.tests, 1)}
            ranks = sorted(rank[name] for name in wanted if name in rank)
            judged.append(Judged(package, mutant.function, len(wanted), len(rank), said.totals.likely_tests, all_tests, ranks, spent))
    return judged


def table(judged: Sequence[Judged]) -> str:
    """Markdown; one row for each package."""
    head = [
        "package",
        "mutants",
        "tests",
        "a failing test is named",
        "failing tests named",
        "share of tests named",
        "a failing test is likely",
        "failing tests likely",
        "share of tests likely",
        "first failing at rank (median, p90)",
    ]
    head += [f"found within {budget}" for budget in BUDGETS] + ["ms"]
    out = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    groups = {package: [item for item in judged if item.package == package] for package in PACKAGES}
    for name, items in {**groups, "all": list(judged)}.items():
        if not items:
            continue
        firsts = sorted(item.ranks[0] if item.ranks else 10_000 for item in items)
        cells = [
            f"{name}{' (held out)' if name in HELD_OUT else ''}",
            str(len(items)),
            str(items[0].all_tests) if name != "all" else "",
            _percent(sum(bool(item.ranks) for item in items), len(items)),
            _percent(sum(len(item.ranks) / item.failed for item in items), len(items)),
            _percent(sum(item.named / item.all_tests for item in items), len(items)),
            _percent(sum(bool(item.ranks) and item.ranks[0] <= item.likely for item in items), len(items)),
            _percent(sum(sum(rank <= item.likely for rank in item.ranks) / item.failed for item in items), len(items)),
            _percent(sum(item.likely / item.all_tests for item in items), len(items)),
            f"{statistics.median(firsts):.0f}, {firsts[int(len(firsts) * 0.9)]}",
            *(_percent(sum(first <= budget for first in firsts), len(items)) for budget in BUDGETS),
            f"{statistics.median(item.ms for item in items):.0f}",
        ]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "—"


# ---- the whole


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.changes", description="Are failing tests among those that are named?")
    parser.add_argument("--out", type=Path, default=Path(".bench/changes"), help="working folder, kept between runs")
    parser.add_argument("--number", type=int, default=40, help="mutants of each package (default: 40)")
    parser.add_argument("--only", choices=sorted(PACKAGES), nargs="+", default=list(PACKAGES))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--skip-peer", action="store_true", help="do not put a change to agent-lsp as well")
    arguments = parser.parse_args()
    folder: Path = arguments.out.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = _environment(folder)
    judged: list[Judged] = []
    for package in arguments.only:
        _fetch(folder, package, python)
        found, tests = outcomes(folder, python, package, arguments.number, arguments.workers)
        survived = sum(not item.failed for item in found)
        print(f"{package}: {len(found)} mutants, {tests} tests with parameters, {survived} not noticed by any", file=sys.stderr)
        judged += judge(folder, python, package, found)
    beside = [] if arguments.skip_peer else peer_changes.measure(folder, say=lambda text: print(text, file=sys.stderr, flush=True))
    result = {"mutants": [item._asdict() for item in judged], "beside_agent_lsp": beside}
    (folder / "result.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(table(judged))
    if beside:
        print(f"\nflask {' → '.join(peer_changes.VERSIONS)}, both over the same server by turns:\n\n{peer_changes.table(beside)}")
    return 0


def _environment(folder: Path) -> Path:
    place = folder / "env"
    if not (place / "bin" / "pytest").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run(
            [str(place / "bin" / "python"), "-m", "pip", "install", "-q", *ENVIRONMENT, "click==8.1.8", "itsdangerous==2.2.0"], check=True
        )
    return place / "bin" / "python"


def _fetch(folder: Path, package: str, python: Path) -> None:
    """Sources, as one commit of a repository of their own, indexed."""
    requirement, name = PACKAGES[package]
    root = folder / name
    if not root.is_dir():
        sdists.sources(folder, requirement, "--no-build-isolation")
    if not (root / ".git").is_dir():
        for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]):
            subprocess.run(["git", *command], cwd=root, check=True)
    if not (root / ".lspidx").is_dir():
        subprocess.run([sys.executable, "-m", "query.cli", "index", "-q", "--python", str(python.parent.parent), str(root)], check=True)


if __name__ == "__main__":
    sys.exit(main())
