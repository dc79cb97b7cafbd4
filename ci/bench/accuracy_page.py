"""`python -m ci.bench.accuracy_page`: the page of this version's accuracy, by calls that really ran.

Packages of Python (`ci.bench.traces`) and of Node (`ci.bench.trace_node`) are indexed, their own suites run under a tracer, and what ran
is held against the index: recall by package, precision by evidence, what is missed by construct. The same is done with what the first
server alone says, and with indexes that other engines answer for: another server of the table in place of the first, or a SCIP file of
scip-python. Each gets the same texts, the same syntax and the same rules; only who says what an identifier means differs.

No figure is written by hand: `indexer/doc/accuracy.md` is what this prints, and `.bench/accuracy/result.json` has all of it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from ci.bench import trace_compare, trace_node, traces
from ci.bench.trace_causes import by_count
from ci.bench.trace_compare import Compared
from indexer.model import Evidence
from indexer.servers.registry import find_server

Groups = Mapping[str, Compared]
Compare = Callable[[Path, Collection[str]], Groups]

BY_VALUES = (Evidence.FLOW.label, Evidence.POSSIBLE_FLOW.label, Evidence.SECOND_SERVER.label)
_PAGE = Path("indexer/doc/accuracy.md")
_ENGINES = ("pyrefly", "basedpyright", "scip-python")
_SCIP_PYTHON = "@sourcegraph/scip-python@0.6.6"


class Subject(NamedTuple):
    """A package that has an index and has run. language: as people call it. compare: a folder with an index of it, against what ran."""

    language: str
    root: Path
    python: Path | None
    compare: Compare


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.accuracy_page", description="Writes the page of this version's accuracy.")
    parser.add_argument("--out", type=Path, default=Path(".bench/accuracy"), help="working folder, kept between runs")
    parser.add_argument("--page", type=Path, default=_PAGE)
    parser.add_argument("--tests", type=int, default=600, help="tests of each package of Python that run, at most (default: 600)")
    parser.add_argument("--only", choices=sorted([*traces.PACKAGES, *trace_node.NODE_PACKAGES]), nargs="+")
    parser.add_argument("--engines", choices=_ENGINES, nargs="*", default=list(_ENGINES), help="beside lspidx, for Python")
    parser.add_argument("--again", action="store_true", help="make indexes anew; traces are kept")
    arguments = parser.parse_args()
    folder: Path = arguments.out.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    wanted = arguments.only or [*traces.PACKAGES, *trace_node.NODE_PACKAGES]
    found: dict[str, dict[str, Groups]] = {}  # by package and engine
    languages: dict[str, str] = {}
    for name in wanted:
        subject = _python(folder, name, arguments.tests) if name in traces.PACKAGES else _node(folder, name)
        languages[name] = subject.language
        if arguments.again or not (subject.root / ".lspidx").is_dir():
            _index(subject.root, subject.python)
        found[name] = {"lspidx": subject.compare(subject.root, ()), "first server alone": subject.compare(subject.root, BY_VALUES)}
        for engine in arguments.engines if subject.python is not None else ():
            copy = _with_engine(folder, subject, engine, again=arguments.again)
            if copy is not None:
                found[name][engine] = subject.compare(copy, BY_VALUES)
        print(name, *(f"{engine} {_recall(groups):.1f}" for engine, groups in found[name].items()), file=sys.stderr, flush=True)
    told = {name: {engine: {group: item.to_json() for group, item in groups.items()} for engine, groups in engines.items()}
            for name, engines in found.items()}  # fmt: skip
    (folder / "result.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    text = to_markdown(found, languages, [f"{name} {find_server(name).version}" for name in ("ty", "ts7")])
    arguments.page.write_text(text, encoding="utf-8")
    return 0


def _python(folder: Path, name: str, tests: int) -> Subject:
    package = traces.PACKAGES[name]
    python = traces.environment(folder, name, package)
    root = traces.sources(folder, package)
    trace = traces.traced(folder, name, package, root, python, tests)
    return Subject("Python", root, python, lambda place, without: trace_compare.compare(place, package.sources, trace, without))


def _node(folder: Path, name: str) -> Subject:
    package = trace_node.NODE_PACKAGES[name]
    root = trace_node.sources(folder, package)
    trace = trace_node.traced(folder, package, root)
    return Subject("JavaScript", root, None, lambda place, without: trace_node.compare(place, trace, without))


def _index(root: Path, python: Path | None, *options: str) -> None:
    environment = ["--python", str(python.parent.parent)] if python is not None else []
    subprocess.run([sys.executable, "-m", "query.cli", "index", "-q", *environment, *options, str(root)], check=True)


def _with_engine(folder: Path, subject: Subject, engine: str, *, again: bool) -> Path | None:
    """A copy of the package with an index that the engine answers for; None where it cannot be had."""
    copy = folder / f"{engine}-{subject.root.name}" / subject.root.name
    if again or not (copy / ".lspidx").is_dir():
        shutil.rmtree(copy.parent, ignore_errors=True)
        shutil.copytree(subject.root, copy, symlinks=True, ignore=shutil.ignore_patterns(".lspidx"))
        options = ["--server", engine]
        if engine == "scip-python":
            scip = _scip_of(copy, folder, subject.python)
            if scip is None:
                return None
            options = ["--scip", f"{scip}=python"]
        _index(copy, subject.python, *options)
    return copy


def _scip_of(root: Path, folder: Path, python: Path | None) -> Path | None:
    """The SCIP file that scip-python writes of a folder; None where npm or the program is not to be had, or it fails.

    Args:
        python: of the environment that the package is installed in, which has to be an active one.
    """
    npx, output = shutil.which("npx"), folder / f"{root.name}.scip"
    if npx is None:
        return None
    command = [npx, "--yes", "--package", _SCIP_PYTHON, "scip-python", "index", "--cwd", str(root), "--quiet", "--project-name", root.name]
    environment = dict(os.environ)
    if python is not None:
        environment |= {"VIRTUAL_ENV": str(python.parent.parent), "PATH": f"{python.parent}{os.pathsep}{environment['PATH']}"}
    command += ["--project-version", "0", "--output", str(output)]
    done = subprocess.run(command, cwd=root, env=environment, check=False, stdout=subprocess.DEVNULL)
    return output if done.returncode == 0 and output.is_file() else None


# ---- the page


def _recall(groups: Groups) -> float:
    pairs = sum(item.pairs for item in groups.values())
    return 100 * sum(item.named + item.overridden for item in groups.values()) / pairs if pairs else 100.0


def _judged(all_groups: Sequence[Compared], words: Collection[str] = ()) -> tuple[int, int]:
    """True and contradicted edges, of all evidence or of some."""
    found = [counts for item in all_groups for word, counts in item.judged.items()
             if (word in words if words else word != Evidence.POSSIBLE_FLOW.label)]  # fmt: skip
    return sum(true for true, _ in found), sum(false for _, false in found)


def _share(true: int, false: int) -> str:
    return f"{100 * true / (true + false):.1f}" if true + false else "–"


def to_markdown(found: Mapping[str, Mapping[str, Groups]], languages: Mapping[str, str], servers: Sequence[str]) -> str:
    """The page."""
    engines = list(dict.fromkeys(engine for each in found.values() for engine in each))
    lines = [
        "# Accuracy, by calls that ran",
        "",
        f"lspidx {version('lspidx')}, {', '.join(servers)}. Written by `make bench-accuracy`; nothing here is by hand.",
        "",
        "Packages are indexed and their own tests run under a tracer. A pair of caller and callee that ran counts once; *recall* is",
        "the share of these pairs that the index has, itself or as a call of what is overridden. What a library or generated code",
        "stands between is left out. *Precision* is the share of the edges at calls that ran which led there at least once: a lower",
        "bound, for a call that ran a few times need not show all that it may do. The other engines are asked in place of the first",
        "server, about the same texts.",
        "",
        "## Recall and precision of each package, %",
        "",
        f"| package | language | pairs | {' | '.join(engines)} |",
        f"|---|---|---:|{'---:|' * len(engines)}",
    ]
    for name, each in found.items():
        pairs = sum(item.pairs for item in each["lspidx"].values())
        cells = [
            f"{_recall(each[engine]):.1f}, {_share(*_judged(list(each[engine].values())))}" if engine in each else "" for engine in engines
        ]
        lines.append(f"| {name} | {languages[name]} | {pairs:,} | {' | '.join(cells)} |")
    for language in dict.fromkeys(languages.values()):
        own = [item for name, each in found.items() if languages[name] == language for item in each["lspidx"].values()]
        lines += [
            "",
            f"## {language}: each evidence",
            "",
            "| evidence | true when it ran | led elsewhere | precision % |",
            "|---|---:|---:|---:|",
        ]
        for evidence in sorted({word for item in own for word in item.judged}):
            true, false = _judged(own, (evidence,))
            lines.append(f"| {evidence} | {true:,} | {false:,} | {_share(true, false)} |")
        missed = by_count(missed.cause for item in own for missed in item.missed)
        gaps, possible = sum(item.gap for item in own), sum(item.possible for item in own)
        lines += ["", f"## {language}: what is missed, by construct", "", "| leads by | pairs |", "|---|---:|"]
        lines += [f"| {cause} | {count} |" for cause, count in missed]
        lines.append(f"| (told as possible only) | {possible} |")
        lines.append(f"| (a gap says so) | {gaps} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
