"""Who says what an identifier means, and who is right: lspidx, pyright and scip-python over every identifier of a corpus.

An answer is a set of `Key`s. The reference of an identifier is what at least two of the three engines say, inside the
repository; identifiers without one are not judged. pyright and scip-python share an ancestor, so a reference made by these two
alone may be a shared convention or a shared mistake: the sample exists to be read.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ci.bench.corpora import Bench, Corpus
from ci.bench.identifiers import EXTERNAL, Identifier, Key, SourceFile, read_source
from ci.bench.pyright_crawl import definitions
from ci.bench.scip import ScipDocument, read_index
from indexer.store.generations import Home

ENGINES = ("lspidx", "pyright", "scip-python")

Spot = tuple[str, int, int]
"""(path, line, col) of an identifier."""
Answers = Mapping[Spot, frozenset[Key]]

_SAMPLE = 200
_SEED = 20_261_122


@dataclass(slots=True)
class Score:
    """Counts over the identifiers that have a reference, for one engine.

    right + wrong + silent = referenced. `several` counts answers with more than one key, out of all that were given.
    """

    right: Counter[str] = field(default_factory=Counter[str])
    wrong: Counter[str] = field(default_factory=Counter[str])
    silent: Counter[str] = field(default_factory=Counter[str])
    answered: int = 0
    several: int = 0

    def record(self) -> dict[str, Any]:
        """Shares in percent by class of reference: in_file, cross_file, uses (all but definitions of themselves), total."""
        shares: dict[str, Any] = {}
        for part in ("in_file", "cross_file", "uses", "total"):
            count = self.right[part] + self.wrong[part] + self.silent[part]
            shares[part] = {
                "referenced": count,
                "recall": _percent(self.right[part], count),
                "wrong": _percent(self.wrong[part], count),
                "silent": _percent(self.silent[part], count),
            }
        shares["several_targets"] = _percent(self.several, self.answered)
        return shares


@dataclass(frozen=True, slots=True)
class Case:
    """An identifier that lspidx got wrong or left silent."""

    spot: Spot
    name: str
    verdict: str
    answers: tuple[frozenset[Key], ...]
    reference: frozenset[Key]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result for one corpus. `claimed` counts identifiers placed in the repository by lspidx and outside by both others."""

    corpus: str
    identifiers: int
    scores: Mapping[str, Score]
    cases: Sequence[Case]
    claimed: Sequence[Case]

    def record(self) -> dict[str, Any]:
        return {
            "identifiers": self.identifiers,
            "external_claimed": len(self.claimed),
            "engines": {name: score.record() for name, score in self.scores.items()},
        }


def judge(bench: Bench, corpus: Corpus, scip_file: Path) -> tuple[Judgement, dict[str, SourceFile]]:
    """Compares the published lspidx index of `corpus` and `scip_file` with pyright's definitions."""
    contents = {
        path.relative_to(corpus.root).as_posix(): path.read_bytes()
        for path in sorted(corpus.root.rglob("*.py"))
        if not path.relative_to(corpus.root).parts[0].startswith(".")
    }
    files = {path: read_source(path, content) for path, content in contents.items()}
    names = {(path, item.line, item.col): item.name for path, file in files.items() for item in file.identifiers}
    places = definitions(bench, corpus, {path: (contents[path], file.identifiers) for path, file in files.items()})
    answers: tuple[Answers, ...] = (
        read_lspidx(corpus.root, files, names),
        {spot: frozenset(_key(files, names[spot], *place) for place in found) for spot, found in places.items()},
        read_scip(read_index(scip_file), corpus, files),
    )
    defined = {(path, line, col) for path, file in files.items() for line, col in file.keys}
    return compare(corpus.name, names, answers, defined), files


def compare(corpus: str, names: Mapping[Spot, str], answers: Sequence[Answers], defined: Container[Spot]) -> Judgement:
    """Pure: votes, scores and cases. `answers` are in the order of ENGINES; `defined` are places of definitions, no uses."""
    scores = {name: Score() for name in ENGINES}
    cases: list[Case] = []
    claimed: list[Case] = []
    nothing: frozenset[Key] = frozenset()
    for spot, name in names.items():
        given = tuple(engine.get(spot, nothing) for engine in answers)
        votes = Counter(key for keys in given for key in keys)
        for score, keys in zip(scores.values(), given, strict=True):
            score.answered += bool(keys)
            score.several += len(keys) > 1
        reference = frozenset(key for key, count in votes.items() if count >= 2 and key != EXTERNAL)
        if not reference:
            if votes[EXTERNAL] == 2 and given[0] and EXTERNAL not in given[0]:
                claimed.append(Case(spot, name, "claimed", given, nothing))
            continue
        parts = ["total", "in_file" if any(key.path == spot[0] for key in reference) else "cross_file"]
        if spot not in defined:
            parts.append("uses")
        for engine, score, keys in zip(ENGINES, scores.values(), given, strict=True):
            verdict = "right" if keys & reference else "wrong" if keys else "silent"
            getattr(score, verdict).update(parts)
            if engine == "lspidx" and verdict != "right":
                cases.append(Case(spot, name, verdict, given, reference))
    return Judgement(corpus, len(names), scores, cases, claimed)


def _key(files: Mapping[str, SourceFile], name: str, path: str, line: int, col: int, is_module: bool) -> Key:
    file = files.get(path)
    if file is None:
        return EXTERNAL
    return file.module if is_module else file.key_at(line, col, name)


def read_lspidx(root: Path, files: Mapping[str, SourceFile], names: Mapping[Spot, str]) -> dict[Spot, frozenset[Key]]:
    """Answers of the published index, from its views."""
    import duckdb

    with duckdb.connect(str(Home(root).require()), read_only=True) as connection:
        rows = connection.execute(
            "SELECT o.path, o.line, o.col, o.target_path, o.target_line, o.target_col, coalesce(s.kind = 'module', false) "
            "FROM occurrences o LEFT JOIN (SELECT DISTINCT symbol, kind FROM symbols WHERE kind = 'module') s USING (symbol) "
            "WHERE o.symbol IS NOT NULL"
        ).fetchall()
    found: dict[Spot, set[Key]] = {}
    for path, line, col, target_path, target_line, target_col, is_module in rows:
        spot = (path, line, col)
        name = names.get(spot)
        if name is not None:
            found.setdefault(spot, set()).add(_key(files, name, target_path or "", target_line or 0, target_col or 0, is_module))
    return {spot: frozenset(keys) for spot, keys in found.items()}


def read_scip(documents: Sequence[ScipDocument], corpus: Corpus, files: Mapping[str, SourceFile]) -> dict[Spot, frozenset[Key]]:
    """Answers of a SCIP index; paths in it are relative to `--target-only`, that is, to the corpus.

    A dotted module name is one occurrence there. It answers for its last part, and for the parts before with the packages above.
    """
    own = f"scip-python python {corpus.name.strip('/')} "
    targets: dict[str, set[Key]] = {}
    for document in documents:
        file = files.get(document.path)
        for item in document.occurrences if file else ():
            if item.is_definition and file:
                is_module = (item.line, item.col, item.end_line, item.end_col) == (0, 0, 0, 0)
                key = file.module if is_module else file.key_at(item.line, item.col, "__init__")
                targets.setdefault(_symbol(document, item.symbol), set()).add(key)
    found: dict[Spot, set[Key]] = {}
    for document in documents:
        file = files.get(document.path)
        if file is None:
            continue
        at_end = {(item.line, item.end_col): number for number, item in enumerate(file.identifiers)}
        for item in document.occurrences:
            last = at_end.get((item.end_line, item.end_col))
            if last is None:
                continue
            symbol = _symbol(document, item.symbol)
            keys = targets.get(symbol)
            if keys is None:
                if item.symbol.startswith(("local ", own)):
                    continue  # defined nowhere: no answer
                keys = {EXTERNAL}
            for up, part in enumerate(_dotted(file, last, item.col)):
                answer = {_as_class(key, part.name) for key in keys} if up == 0 else {_package(key, up) for key in keys}
                found.setdefault((document.path, part.line, part.col), set()).update(answer)
    return {spot: frozenset(keys) for spot, keys in found.items()}


def _symbol(document: ScipDocument, symbol: str) -> str:
    return f"{document.path} {symbol}" if symbol.startswith("local ") else symbol


def _dotted(file: SourceFile, last: int, start_col: int) -> list[Identifier]:
    """The parts of a dotted name from the last one back to `start_col`; a single one for any other name."""
    parts = [file.identifiers[last]]
    for before in reversed(file.identifiers[max(0, last - 20) : last]):
        if before.line != parts[-1].line or before.end_col + 1 != parts[-1].col or before.col < start_col:
            break
        parts.append(before)
    return parts


def _package(key: Key, up: int) -> Key:
    """The package so many levels above a module."""
    if key == EXTERNAL:
        return EXTERNAL
    folder = key.path.removesuffix("/__init__.py") if key.path.endswith("/__init__.py") else key.path.removesuffix(".py")
    for _ in range(up):
        folder = folder.rpartition("/")[0]
    return Key(f"{folder}/__init__.py" if folder else "__init__.py")


def _as_class(key: Key, name: str) -> Key:
    if key.name in ("__init__", "__new__") and name not in ("__init__", "__new__") and key.scopes:
        return Key(key.path, key.scopes[:-1], key.scopes[-1])
    return key


def write_sample(path: Path, judgements: Sequence[tuple[Judgement, Mapping[str, SourceFile]]]) -> None:
    """The same sample in every run over the same answers: wrong and silent cases of lspidx, and places claimed from outside."""
    with path.open("w", encoding="utf-8", errors="surrogateescape") as out:
        for judgement, files in judgements:
            for title in ("wrong", "silent", "claimed"):
                cases = [case for case in (*judgement.cases, *judgement.claimed) if case.verdict == title]
                chosen = sorted(random.Random(_SEED).sample(cases, min(_SAMPLE, len(cases))), key=lambda case: case.spot)
                out.write(f"==== {judgement.corpus}: {title}: {len(chosen)} of {len(cases)}\n")
                for case in chosen:
                    out.write(_describe(case, files) + "\n")


def _describe(case: Case, files: Mapping[str, SourceFile]) -> str:
    path, line, col = case.spot
    said = [f"    {engine:<12}{', '.join(sorted(map(str, keys))) or '-'}" for engine, keys in zip(ENGINES, case.answers, strict=True)]
    return "\n".join([f"{path}:{line + 1}:{col + 1} {case.name}    {files[path].lines[line].strip()[:140]}", *said])


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 3) if whole else 0.0
