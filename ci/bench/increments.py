"""What an edit costs: `python -m ci.bench.increments`, from the repository's root.

Edits of a copy of django's package, each by `lspidx index` beside a crawl of everything in the same run; then chains of releases, one
upon the other. After each edit and each release all rows are compared with those of a crawl from nothing (`lspidx verify --full`).
Exits with 1 where one row differs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ci.bench import corpora, sdists
from ci.bench.corpora import Bench
from ci.bench.engines import environment
from ci.bench.memory import Measurement, measure
from indexer.store.generations import FOLDER, Home

RELEASES = {
    "click": (
        "",
        ("8.0.0", "8.0.1", "8.0.4", "8.1.0", "8.1.3", "8.1.6", "8.1.7", "8.1.8", "8.2.0", "8.2.1", "8.3.0", "8.3.1"),
    ),
    "flask": (
        "",
        ("2.0.0", "2.0.3", "2.1.0", "2.1.3", "2.2.0", "2.2.4", "2.2.5", "2.3.0", "2.3.1", "2.3.2", "2.3.3", "3.0.0", "3.0.3", "3.1.0"),
    ),
    "Django": ("django", ("5.2.6", "5.2.7", "5.2.8", "5.2.9")),
}
"""Package: the folder of its archive that is indexed (all of it if empty), and releases in their order."""

_EDITED = "db/models/query.py"
_FIFTY = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """crawled: files that were asked about, of `files`. differing: rows that a crawl from nothing does not have, or has beyond these."""

    what: str
    wall_s: float
    cpu_s: float
    crawled: int
    files: int
    differing: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.increments", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(".bench"), help="working folder")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--no-replay", action="store_true")
    arguments = parser.parse_args()
    bench = Bench(arguments.out.absolute())
    corpora.fetch_python(bench, ["django"])
    edits = list(edit_costs(bench, arguments.rounds))
    chains = [] if arguments.no_replay else [row for package in RELEASES for row in replay(bench, package)]
    (bench.folder / "result-increments.json").write_text(json.dumps({"edits": edits, "chains": chains}, default=asdict, indent=1) + "\n")
    print(to_text(edits, chains))
    return 1 if any(row.differing for row in [*edits, *chains]) else 0


def edit_costs(bench: Bench, rounds: int) -> Iterator[Row]:
    """Each edit from the same index; the tree is put back in between, which costs a merge."""
    origin = bench.corpora("python")["django/"].root
    root = bench.folder / "increments" / origin.name
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(origin, root, ignore=shutil.ignore_patterns(FOLDER))
    yield _row(bench, root, "everything", [_index(bench, root, "--full") for _ in range(rounds)], is_checked=False)
    back: list[Measurement] = []
    for what, edit in EDITS.items():
        runs: list[Measurement] = []
        found: Row | None = None
        for number in range(rounds):
            with _kept(root):
                edit(root, number)
                runs.append(_index(bench, root))
                found = _row(bench, root, what, runs, is_checked=True) if number == rounds - 1 else None
            back.append(_index(bench, root))
        if found is not None:
            yield found
    yield _row(bench, root, "back to a known tree", back[-rounds:], is_checked=True)


def _body(root: Path, number: int, path: str = _EDITED) -> None:
    text = (root / path).read_text(encoding="utf-8")
    first = text.index("\n        return ", text.index("    def ") if "    def " in text else 0)
    (root / path).write_text(f"{text[:first]}\n        benched_{number} = 1{text[first:]}", encoding="utf-8")


def _bodies(root: Path, number: int) -> None:
    done = 0
    for file in sorted(root.rglob("*.py")):
        if done < _FIFTY and "\n        return " in file.read_text(encoding="utf-8").partition("    def ")[2]:
            _body(root, number, file.relative_to(root).as_posix())
            done += 1


def _append(text: str, path: str = _EDITED) -> Callable[[Path, int], None]:
    def edit(root: Path, number: int) -> None:
        with (root / path).open("a", encoding="utf-8") as file:
            file.write(text.format(number=number))

    return edit


def _replace(old: str, new: str, path: str = _EDITED) -> Callable[[Path, int], None]:
    def edit(root: Path, number: int) -> None:
        text = (root / path).read_text(encoding="utf-8")
        assert old in text
        (root / path).write_text(text.replace(old, new.format(number=number), 1), encoding="utf-8")

    return edit


EDITS: dict[str, Callable[[Path, int], None]] = {
    "nothing": lambda root, number: None,
    f"a body ({_EDITED})": _body,
    "a new function": _append("\n\ndef benched_{number}(value):\n    return value\n"),
    "a signature (QuerySet.get_or_create)": _replace(
        "def get_or_create(self, defaults=None", "def get_or_create(self, benched_{number}=0, defaults=None"
    ),
    "a new method (Model)": _replace(
        "    def serializable_value(self",
        "    def benched_{number}(self):\n        return 1\n\n    def serializable_value(self",
        "db/models/base.py",
    ),
    f"{_FIFTY} bodies": _bodies,
}


def replay(bench: Bench, package: str) -> Iterator[Row]:
    """Releases of a package, each indexed upon the one before."""
    below, versions = RELEASES[package]
    root = bench.folder / "increments" / package.lower()
    shutil.rmtree(root, ignore_errors=True)
    for version in versions:
        source = _release(bench, package, version) / below
        with _index_aside(root):
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(source, root)
        yield _row(bench, root, f"{package} {version}", [_index(bench, root)], is_checked=True)


@contextmanager
def _index_aside(root: Path) -> Generator[None]:
    aside = root.with_name(f"{root.name}-index")
    shutil.rmtree(aside, ignore_errors=True)
    if (root / FOLDER).is_dir():
        (root / FOLDER).rename(aside)
    yield
    if aside.is_dir():
        aside.rename(root / FOLDER)


@contextmanager
def _kept(root: Path) -> Generator[None]:
    """Puts the sources back."""
    aside = root.with_name(f"{root.name}-sources")
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(root, aside, ignore=shutil.ignore_patterns(FOLDER))
    try:
        yield
    finally:
        with _index_aside(root):
            shutil.rmtree(root)
            aside.rename(root)


def _release(bench: Bench, package: str, version: str) -> Path:
    return sdists.sources(bench.folder / "releases", f"{package}=={version}", downloads=bench.folder / "downloads")


def _index(bench: Bench, root: Path, *options: str) -> Measurement:
    command = [str(Path(sys.executable).with_name("lspidx")), "index", "--quiet", str(root), *options]
    (bench.folder / "log").mkdir(exist_ok=True)
    made = measure(command, cwd=root, environment=environment(bench, "python"), log=bench.folder / "log" / "increments.log")
    if made.status:
        raise RuntimeError(f"lspidx index ended with {made.status}, see {bench.folder / 'log' / 'increments.log'}")
    return made


def _row(bench: Bench, root: Path, what: str, runs: Sequence[Measurement], *, is_checked: bool) -> Row:
    manifest = Home(root).manifest()
    was_current = "up to date" in (bench.folder / "log" / "increments.log").read_text(encoding="utf-8")
    return Row(
        what=what,
        wall_s=statistics.median(run.wall_s for run in runs),
        cpu_s=statistics.median(run.cpu_s for run in runs),
        crawled=0 if was_current else manifest["crawled"],
        files=manifest["counts"]["documents"],
        differing=_differing(bench, root) if is_checked else 0,
    )


def _differing(bench: Bench, root: Path) -> int:
    """Rows by which the index and a crawl from nothing differ, over all views."""
    command = [str(Path(sys.executable).with_name("lspidx")), "verify", "--full", "--quiet", "--json"]
    done = subprocess.run(command, cwd=root, env=dict(environment(bench, "python")), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"lspidx verify ended with {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)["disagreements"]
    for item in found:
        print(json.dumps(item), file=sys.stderr)
    return sum(item["only_in_index"] + item["only_in_crawl"] for item in found)


def to_text(edits: Sequence[Row], chains: Sequence[Row]) -> str:
    """Two tables in Markdown."""
    lines: list[str] = []
    whole: Any = edits[0]
    for title, rows in (("edit", edits), ("release", chains)):
        lines += [
            "",
            f"| {title} | wall s | CPU s | of a full crawl's CPU | files asked about | rows that differ |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for row in rows:
            share = f"{100 * row.cpu_s / whole.cpu_s:.0f} %" if rows is edits else ""
            lines.append(f"| {row.what} | {row.wall_s:.1f} | {row.cpu_s:.1f} | {share} | {row.crawled} of {row.files} | {row.differing} |")
    return "\n".join(lines).strip()


if __name__ == "__main__":
    sys.exit(main())
