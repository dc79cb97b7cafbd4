"""One damaged file below `.lspidx` after another, and what the command says before and after the next `lspidx index`.

Commands run in children that are forked from a process that has loaded everything: a start costs nothing then. Language servers are the
tests' fake one.
"""

from __future__ import annotations

import filecmp
import importlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb
from forked import Module, start, with_streams
from support import VIEWS, Watcher, fake_server, write_tree

from indexer.config import load_config
from indexer.crawl import process as workers
from indexer.crawl.plan import choice, recipe
from indexer.crawl.run import crawl
from indexer.drive import process
from indexer.store.generations import FOLDER, Home

SOURCE = "import os\n\n\nclass K:\n    def target(self):\n        return self.target()\n\n\nk = K()\nk.target()\nos.path.join('a', 'b')\n"
FILES = {f"p{number % 2}/m{number}.py": SOURCE + "# x\n" * (number * 700) for number in range(4)} | {"left/out.py": SOURCE}
QUESTIONS = (
    ("query", "callers", "p0.m0.K.target"),
    ("query", "references", "p1.m1.K.target", "--json"),
    ("query", "symbols", "K", "--json"),
    ("query", "outline", "p0/m0.py"),
    ("query", "changes", "--base", "HEAD~1"),
    ("query", "index_status", "--json"),
    ("sql", "SELECT path, line, col, name, symbol FROM occurrences ORDER BY ALL", "--json"),
    ("status",),
    ("lint",),
    ("query", "get_skill_phase", "--json"),
)
LOADED = (
    "pyarrow.parquet", "indexer.crawl.worker.serve", "indexer.crawl.plan.refresh", "indexer.store.merge", "indexer.store.settle",
    "query.cli.tools", "query.cli.upkeep", "query.facts.status", "query.cli.progress", "query.answers.advice", "query.cli.consent",
    "query.surface.service", "query.changes.bases", "tree_sitter_python", "concurrent_log_handler", "portalocker", "indexer.store.lint",
    "query.facts.sql", "tomllib",
)  # fmt: skip
_SAYS_COMPLETE = re.compile(r'"completeness": ?\{"status": ?"complete"|· complete\b')
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00)?( UTC)?"
    r"|\"(generation|bytes|number|elapsed_ms|recipe|reused_units|taken_ms|tool_history)\": ?(\[[^]]*\]|[^,}\n]*)"
    r"|gen-\d+|[0-9a-f]{32,64}|\d+(\.\d+)? (ms|s|MB|kB)\b|crawled.*"
)
_CHECKED = re.compile(r"^  checked .*\n", re.MULTILINE)
"""How many inferred answers were asked for again: of a crawl, and not of one that took up what was known."""


class Said(NamedTuple):
    """What a command did. `code` is negative where a signal ended it."""

    code: int
    out: str
    err: str

    @property
    def settled(self) -> str:
        """The answer without what differs between two runs over the same tree."""
        return _VOLATILE.sub("~", _CHECKED.sub("", self.out))


def run(root: Path, *words: str) -> Said:
    """A command in a forked child, as `lspidx` would run it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:

        def body() -> object:
            with_streams(os.open(os.devnull, os.O_RDONLY), out.fileno(), err.fileno())
            os.chdir(root)
            sys.argv = ["lspidx", *words]
            from query.cli.command import main

            return main() or 0

        _, status = os.waitpid(start(body), 0)
        texts: list[str] = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return Said(os.waitstatus_to_exitcode(status), texts[0], texts[1])


@dataclass(frozen=True, kw_only=True)
class Seed:
    """A work tree with an index, kept aside; `root` is where it is put for each case, since stamps and recipes hold there only."""

    root: Path
    kept: Path
    answers: dict[tuple[str, ...], str]
    clean: Path
    without_flags: Path
    time_ns: int

    def restore(self) -> None:
        shutil.rmtree(self.root / FOLDER, ignore_errors=True)
        shutil.copytree(self.kept, self.root / FOLDER, symlinks=True)
        os.utime(self.root, ns=(self.time_ns, self.time_ns))  # else a new file might lie there, and the index is made again

    def files(self) -> dict[str, list[str]]:
        """Paths below `.lspidx`, by what they are."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.kept.rglob("*")):
            if path.is_file():
                name = path.relative_to(self.kept).as_posix()
                found.setdefault(re.sub(r"[0-9a-f]{8,}|\d+|/tmp-.*", "#", name), []).append(name)
        return found


def make_seeds(folder: Path, patch: Callable[[object, str, object], None]) -> list[Seed]:
    """A finished index (with two generations, an index of an older commit, a skill, remembered flags), and a run that was cut off."""
    found = fake_server("good", folder / "pids")
    patch(choice, "find_server", lambda name, avoid=(): found)
    patch(workers, "subprocess", Module)
    patch(process, "subprocess", Module)
    recipe.code_digest()
    recipe.versions("tree-sitter", "pygments")
    for name in LOADED:  # before the first fork
        importlib.import_module(name)
    return [_finished(folder / "finished"), _cut_off(folder / "cut-off")]


def _repository(folder: Path) -> Path:
    root = write_tree(folder / "work", FILES)
    git = ["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    (root / "p0/m0.py").write_text(SOURCE + "k.target()\n", encoding="utf-8")
    subprocess.run([*git, "commit", "-qam", "two"], check=True)
    return root


_INDEX = ("index", "-q", "--jobs", "1", "--exclude", "left/*")


def _finished(folder: Path) -> Seed:
    root = _repository(folder)
    first = run(root, *_INDEX[:-2])
    assert first.code == 0, first
    without_flags = _copy_of_database(root, folder / "without-flags.duckdb")
    for words in (_INDEX, (*_INDEX, "--full")):
        said = run(root, *words)
        assert said.code == 0, said.err
    assert run(root, "query", "activate_skill", "lsp-docs").code == 0
    return _seed(folder, root, without_flags)


def _cut_off(folder: Path) -> Seed:
    root = _repository(folder)
    first = run(root, *_INDEX[:-2])
    assert first.code == 0, first
    without_flags = _copy_of_database(root, folder / "without-flags.duckdb")
    assert run(root, *_INDEX).code == 0
    clean = _copy_of_database(root, folder / "clean.duckdb")
    answers = {words: run(root, *words).settled for words in QUESTIONS}
    shutil.rmtree(root / FOLDER)

    def body() -> object:
        """Ends before the merge: all units are finished, and nothing is published."""

        def stop(phase: str) -> None:
            if phase == "merge":
                raise KeyboardInterrupt

        try:
            crawl(root, load_config(root, flags={"jobs": 1, "exclude": ["left/*"]}), Watcher(on_phase=stop))
        except KeyboardInterrupt:
            return 0
        return 1

    assert os.waitpid(start(body), 0)[1] == 0
    assert list((root / FOLDER / "crawl").rglob("*.parquet"))
    kept = folder / "kept"
    shutil.copytree(root / FOLDER, kept, symlinks=True)
    return Seed(root=root, kept=kept, answers=answers, clean=clean, without_flags=without_flags, time_ns=root.stat().st_mtime_ns)


def _seed(folder: Path, root: Path, without_flags: Path) -> Seed:
    answers: dict[tuple[str, ...], str] = {}
    for words in QUESTIONS:
        said = run(root, *words)
        assert said.code == 0, (words, said)
        answers[words] = said.settled
    clean = _copy_of_database(root, folder / "clean.duckdb")
    kept = folder / "kept"
    shutil.copytree(root / FOLDER, kept, symlinks=True)
    return Seed(root=root, kept=kept, answers=answers, clean=clean, without_flags=without_flags, time_ns=root.stat().st_mtime_ns)


def _copy_of_database(root: Path, target: Path) -> Path:
    shutil.copyfile(Home(root).require(), target)
    return target


# ---- damage

HOW = ("flip", "flips", "truncate", "empty", "garbage", "swap", "remove", "folder", "full folder", "double", "value", "zeros")


def damage(seed: Seed, kind: str, chance: random.Random) -> str:
    """Damages one file of a kind, a key of `seed.files()`, and says how."""
    top = seed.root / FOLDER
    by_kind = seed.files()
    name = chance.choice(by_kind[kind])
    place = top / name
    content = place.read_bytes()
    how = chance.choice(HOW)
    if how == "swap":
        other = chance.choice([path for paths in by_kind.values() for path in paths])
        theirs = (top / other).read_bytes()
        (top / other).write_bytes(content)
        place.write_bytes(theirs)
        return f"swap {name} {other}"
    if how in ("remove", "folder", "full folder"):
        place.unlink()
        if how != "remove":
            place.mkdir()
        if how == "full folder":
            (place / "something").write_bytes(content)
    else:
        place.write_bytes(_changed(content, how, chance))
    return f"{how} {name}"


def other_content(content: bytes, others: list[bytes], chance: random.Random) -> tuple[bytes, str]:
    """What a file may hold in place of its content, which may be the same by chance; and how that was made."""
    how = chance.choice([one for one in HOW if "folder" not in one and one != "remove"])
    return (chance.choice(others) if how == "swap" else _changed(content, how, chance)), how


def _changed(content: bytes, how: str, chance: random.Random) -> bytes:
    if how in ("flip", "flips"):
        made = bytearray(content or b"x")
        for _ in range(1 if how == "flip" else chance.randint(2, 40)):
            made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
        return bytes(made)
    at = chance.randrange(len(content) or 1)
    if how == "truncate":
        return content[:at]
    if how == "empty":
        return b""
    if how == "garbage":
        return chance.randbytes(chance.choice([1, len(content), 4096]))
    if how == "zeros":
        return content[:at] + bytes(len(content) - at)
    if how == "double":
        return content + content
    return _other_value(content, chance)


def _other_value(content: bytes, chance: random.Random) -> bytes:
    """JSON with a value of another type somewhere; other files become JSON."""
    odd = chance.choice([None, [], {}, 7, "x", True, -1, 10**30, 0.5, {"recipe": "x"}])
    try:
        found = json.loads(content)
        inside = found
        while isinstance(inside, dict) and inside:
            key = chance.choice(sorted(inside))
            if not isinstance(inside[key], dict) or chance.random() < 0.5:
                inside[key] = odd
                break
            inside = inside[key]
        return json.dumps(found).encode()
    except ValueError:
        return json.dumps(odd).encode()


# ---- one case


class Wrong(AssertionError):
    pass


_TOLD_EVERY_S = 20.0


def counted(numbers: range, what: str) -> Iterator[int]:
    """The numbers, and now and then a line that says how far they are: two thousand cases take half an hour."""
    began = told = time.monotonic()
    for done, number in enumerate(numbers):
        now = time.monotonic()
        if now >= told + _TOLD_EVERY_S:
            told = now
            print(
                f"  {done} of {len(numbers)} {what}, about {(now - began) / done * (len(numbers) - done) / 60:.0f} minutes left", flush=True
            )
        yield number


def try_case(seeds: Sequence[Seed], number: int, start: int, counts: Counter[str]) -> None:
    """Damages a file, asks, indexes, asks again. Cases with numbers one after the other damage a file of each kind of each seed in turn.

    Raises:
        Wrong: with all that is needed to do it again.
    """
    kinds = [(seed, kind) for seed in seeds for kind in sorted(seed.files())]
    seed, kind = kinds[number % len(kinds)]
    chance = random.Random(f"{start} {number}")
    seed.restore()
    done = damage(seed, kind, chance)
    words = chance.choice(QUESTIONS)
    said: list[tuple[tuple[str, ...], Said]] = []

    def wrong(why: str) -> Wrong:
        shown = "\n".join(f"$ lspidx {' '.join(words)}: {one.code}\n{one.out[-1500:]}\n{one.err[-1500:]}" for words, one in said)
        return Wrong(f"{why}; seed {start}, case {number}: {done} of '{seed.kept.parent.name}'\n{shown}")

    def ask(words: tuple[str, ...]) -> Said:
        answer = run(seed.root, *words)
        said.append((words, answer))
        if answer.code not in (0, 1, 2, 3, 4):
            raise wrong(f"ended with {answer.code}")
        if "Traceback" in answer.out + answer.err or "internal error" in answer.out + answer.err:
            raise wrong("a traceback")
        return answer

    before = ask(words)
    if before.code == 0 and seed.kept.parent.name == "finished" and before.settled != seed.answers[words]:
        if _SAYS_COMPLETE.search(before.out):
            raise wrong(f"a wrong answer:\n{before.settled}\nin place of\n{seed.answers[words]}")
        counts["before: answered, and said not to be complete"] += 1
    elif before.code == 0:
        counts["before: answered"] += 1
    elif "lspidx" in before.err + before.out or "remove" in before.err:
        counts["before: refused with what to do"] += 1
    else:
        raise wrong("refused without what to do")
    made = ask(("index", "-q", "--jobs", "1"))
    if made.code:
        if not re.search(r"lspidx|remove|move it|writable", made.err):
            raise wrong("the index was not made, without what to do")
        counts["index: not made, and said what to do"] += 1
        return
    lines = "damaged" in made.err or "was not there" in made.err or "is now '" in made.err
    told = ", with a line that says what was damaged" if lines else ", nothing to do" if "up to date" in made.err else ""
    counts[f"index: made{told}"] += 1
    differing = _differing(seed.root, seed.clean)
    has_flags = not differing
    if differing and ("flags.json" not in done or _differing(seed.root, seed.without_flags)):
        raise wrong(f"the index differs from a clean one: {differing}")
    after = ask(words)
    if after.code == 0 and has_flags and after.settled != seed.answers[words] and "skill" not in done:
        raise wrong(f"another answer afterwards:\n{after.settled}\nin place of\n{seed.answers[words]}")
    if after.code and "skill" not in done:
        raise wrong("no answer afterwards")
    counts["after: answered" if not after.code else "after: refused with what to do"] += 1


def _differing(root: Path, clean: Path) -> str:
    """The first view that differs from that of a clean index; empty where all are the same."""
    generation = Home(root).require()
    if filecmp.cmp(generation, clean, shallow=False):
        return ""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:  # a process with threads must not be forked
        connection.execute(f"ATTACH '{generation}' AS a (READ_ONLY)")
        connection.execute(f"ATTACH '{clean}' AS b (READ_ONLY)")
        for view in VIEWS:
            for one, other in (("a", "b"), ("b", "a")):
                rows = connection.execute(f"SELECT * FROM {one}.{view} EXCEPT ALL SELECT * FROM {other}.{view} LIMIT 1").fetchall()
                if rows:
                    return f"{view} {one}: {rows[0]}"
    return ""
