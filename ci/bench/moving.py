"""`python -m ci.bench.moving`: are answers of a process that lives, about a real package that is being edited, those of a new crawl?

After one to three changes (by hand, by git, by our own tools) a living service is asked questions of many kinds about symbols that are
drawn; then the tree is copied, crawled from nothing, and asked the same. What is `complete` here must be the very answer there; what is
not must say why. Exits with 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil

from ci.bench import renames
from ci.bench.renames import PACKAGES, Package
from indexer.errors import Bug, LspidxError
from query.surface.service import Service

_PER_STEP = 30
_NEW = "_moved"


def _rewrite(file: Path, text: str) -> None:
    aside = file.with_name(f".{file.name}.saving")
    aside.write_text(text, encoding="utf-8")
    aside.replace(file)


def _remove(root: Path, package: Package, draw: random.Random, number: int) -> str:
    """A definition goes, whoever uses it."""
    file = draw.choice(sorted((root / package.below / package.top).rglob("*.py")))
    text = file.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^(?:def|class) (\w+).*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL))
    if not blocks:
        return "nothing to remove"
    block = draw.choice(blocks)
    _rewrite(file, text[: block.start()] + text[block.end() :])
    return f"{block[1]} is removed from {file.name}"


def _same_size_and_time(root: Path, package: Package, draw: random.Random, number: int) -> str:
    file = draw.choice(sorted((root / package.below / package.top).rglob("*.py")))
    text, status = file.read_text(encoding="utf-8"), file.stat()
    names = re.findall(r"^def (\w+)", text, re.MULTILINE)
    if not names:
        return "nothing to change"
    name = draw.choice(names)
    file.write_text(re.sub(rf"\b{name}\b", name[:-1] + ("x" if name[-1] != "x" else "y"), text), encoding="utf-8")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    return f"{name} of {file.name}, whose time is set back"


def _rename_file(root: Path, package: Package, draw: random.Random, number: int) -> str:
    files = [file for file in sorted((root / package.below / package.top).rglob("*.py")) if not file.name.startswith("__")]
    file = draw.choice(files)
    file.rename(file.with_name(f"{file.stem}{_NEW}{number}.py"))
    if draw.random() < 0.5:
        for other in (root / package.below / package.top).rglob("*.py"):
            text = other.read_text(encoding="utf-8")
            if (changed := re.sub(rf"\b(from \.*[\w.]*){file.stem} import", rf"\g<1>{file.stem}{_NEW}{number} import", text)) != text:
                _rewrite(other, changed)
    return f"{file.name} has another name"


def _by_git(root: Path, package: Package, draw: random.Random, number: int) -> str:
    kind = draw.choice(("stash", "commit", "back", "branch", "file"))
    if kind == "stash":
        subprocess.run(["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@example.org", "stash", "-q", "-u"], check=False)
    elif kind == "commit":
        renames.git(root, "add", "-A")
        renames.git(root, "commit", "-q", "--allow-empty", "-m", f"step {number}")
    elif kind == "back":
        renames.git(root, "checkout", "-q", "-f", "HEAD")
    elif kind == "branch":
        renames.git(root, "checkout", "-q", "-B", f"branch{number}")
        renames.git(root, "add", "-A")
        renames.git(root, "commit", "-q", "--allow-empty", "-m", f"step {number}")
        subprocess.run(["git", "-C", str(root), "checkout", "-q", f"branch{draw.randrange(number + 1)}"], check=False, capture_output=True)
    else:
        file = draw.choice(sorted((root / package.below / package.top).rglob("*.py")))
        subprocess.run(["git", "-C", str(root), "checkout", "-q", "HEAD", "--", str(file)], check=False, capture_output=True)
    return f"git: {kind}"


CHANGES: list[Callable[[Path, Package, random.Random, int], str]] = [
    *[renames.disturb] * 4, _remove, _same_size_and_time, _rename_file, _by_git, _by_git,
]  # fmt: skip


def _questions(draw: random.Random, package: Package, root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    sites = [site for site in renames.sites(root, package) if site.kind in ("function", "method", "class")]
    files = sorted({site.path for site in sites})
    for _ in range(_PER_STEP):
        site = draw.choice(sites)
        place = f"{site.path}:{site.line}:{site.col}"
        yield draw.choice(
            (
                ("find_callers", {"symbol": place, "direction": draw.choice(("incoming", "outgoing")), "limit": 1000}),
                ("find_references", {"symbol": place, "limit": 1000}),
                ("get_symbol_source", {"symbol": place}),
                ("list_symbols", {"file_path": draw.choice(files)}),
                ("find_symbol", {"query": site.name, "match": "exact", "limit": 1000}),
                ("blast_radius", {"symbols": [place], "limit": 1000}),
                ("get_tests_for_file", {"file_path": draw.choice(files)}),
                ("unreferenced", {"path": draw.choice(files), "include_exported": True}),
                ("go_to_definition", {"symbol": place}),
                ("explore_symbol", {"symbol": place}),
            )
        )


def _ask(service: Service, tool: str, arguments: dict[str, Any]) -> tuple[str, Any, list[str]]:
    try:
        answer = service.ask(tool, arguments)
    except Bug:
        raise
    except LspidxError as error:
        return type(error).__name__, str(error), []
    return answer.completeness.status, msgspec.to_builtins(answer.result), [reason.code for reason in answer.completeness.reasons]


def _processor_s() -> float:
    """Seconds of processor that this process has taken, and all that it has started; those that run also."""
    mine = psutil.Process()
    spent = [mine.cpu_times()]
    for child in mine.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            spent.append(child.cpu_times())
    return sum(one.user + one.system + one.children_user + one.children_system for one in spent)


def steps(root: Path, name: str, python: Path, number: int, seed: int, counts: Counter[str], costs: list[float]) -> list[str]:
    """What differs, in words. Adds to `costs` the seconds of processor of the first answer after each step."""
    package, draw = PACKAGES[name], random.Random(f"{seed} {name} moving")
    renames.git(root, "checkout", "-q", "-f", "-B", "branch0")
    renames.git(root, "clean", "-qfdx", "-e", ".lspidx")
    index = [sys.executable, "-m", "query.cli", "index", "-q", "--python", str(python.parent.parent)]
    subprocess.run([*index, str(root)], check=True)
    service = Service(root, keeps_fresh=True, patience_s=300.0, max_chars=0)
    twin = root.with_name(f"{name}-twin") / root.name  # of the same name, in case one is derived from it
    found: list[str] = []
    try:
        for step in range(number):
            said = [draw.choice(CHANGES)(root, package, draw, step) for _ in range(draw.choice((1, 1, 2, 3)))]
            questions = list(_questions(draw, package, root))
            before = _processor_s()
            asked = [_ask(service, *question) for question in questions[:1]]  # this one waits for the refresh
            costs.append(_processor_s() - before)
            asked += [_ask(service, *question) for question in questions[1:]]
            shutil.rmtree(twin, ignore_errors=True)
            shutil.copytree(root, twin, symlinks=True, ignore=shutil.ignore_patterns(".lspidx", "__pycache__"))
            subprocess.run([*index, str(twin)], check=True)
            other = Service(twin, max_chars=0)
            try:
                for question, mine in zip(questions, asked, strict=True):
                    counts[mine[0]] += 1
                    counts["stale"] += "stale" in mine[2]
                    its = _ask(other, *question)
                    if mine != its and "stale" not in mine[2]:
                        found.append(
                            f"{name} step {step}, after {said}: {question}\n  is {str(mine)[:600]}\n  and of a new crawl {str(its)[:600]}"
                        )
                        print(found[-1], file=sys.stderr, flush=True)
            finally:
                other.close()
            print(f"{name} step {step}: {said}", file=sys.stderr, flush=True)
    finally:
        service.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.moving", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=["click", "flask"])
    parser.add_argument("--folder", type=Path, default=Path(".bench/renames"), help="where sources are kept")
    parser.add_argument("--number", type=int, default=30, help="steps on each package")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = renames.environment_of(folder)
    counts: Counter[str] = Counter()
    costs: list[float] = []
    found = [
        line
        for name in options.packages
        for line in steps(renames.fetched(folder, name), name, python, options.number, options.seed, counts, costs)
    ]
    print(dict(counts), f"{len(found)} answers differ")
    if costs:
        print(f"the first answer after a step, with its refresh: {statistics.median(costs):.2f} s of processor, at most {max(costs):.2f}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
