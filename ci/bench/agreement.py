"""How far lspidx and a SCIP indexer agree, identifier by identifier and symbol by symbol (TypeScript, Go).

An answer is a set of places: (path, line, col) of names that are declared, or LIBRARY for everything outside the repository. Two
answers agree when they share a place, for a name may be declared several times (overloads, merged interfaces). Neither side is the
truth here: the sample of disagreements exists to be read.

What the two conventionally do differently is levelled before: a constructor counts as its class, a module as the start of its file,
a package's name in Go as its import in the same file. An identifier that both take for a declaration is one: whether a type and a value
of one name are one symbol shows in their uses. What is left of `total` beside `uses` is convention for the most part: whether a key of
an object literal declares a property of its own or means its type's.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ci.bench.corpora import Corpus
from ci.bench.scip import ScipDocument, read_index
from indexer.store.generations import Home

Spot = tuple[str, int, int]
"""(path, line, col), 0-based, columns UTF-16: where an identifier stands, and where a name is declared."""

LIBRARY: Spot = ("<library>", 0, 0)
PARTS = ("total", "uses", "in_file", "cross_file", "library", "local", "global")

_PER_SHAPE = 12
_MOST_DIFFERENT = 40
_SEED = 20_261_122
_NAME = re.compile(r"[#\w$]+")
_QUOTES = ("'", '"', "`")
_CONSTRUCTOR = "`<constructor>`()."

NOTHING: frozenset[Spot] = frozenset()


@dataclass(slots=True)
class Side:
    """What one indexer says.

    targets: the declarations that an identifier means. meant: names of its symbols or kinds, to sort disagreements by.
    definitions: identifiers that declare something. locals: identifiers that mean something of their own function.
    references: by place of declaration, where the symbol is used. spots: every identifier, also those without an answer.
    joined: sets of places that declare one symbol (overloads, merged interfaces).
    """

    targets: dict[Spot, frozenset[Spot]] = field(default_factory=dict[Spot, frozenset[Spot]])
    meant: dict[Spot, str] = field(default_factory=dict[Spot, str])
    definitions: set[Spot] = field(default_factory=set[Spot])
    locals: set[Spot] = field(default_factory=set[Spot])
    references: dict[Spot, set[Spot]] = field(default_factory=lambda: defaultdict(set))
    spots: set[Spot] = field(default_factory=set[Spot])
    joined: list[frozenset[Spot]] = field(default_factory=list[frozenset[Spot]])


@dataclass(frozen=True, slots=True)
class Case:
    """A disagreement: differ, only_lspidx or only_scip. `shape` groups those that look alike."""

    spot: Spot
    verdict: str
    shape: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of verdicts by part (PARTS): agree, differ, only_lspidx, only_scip; and of references by symbol.

    `uses` are the identifiers that the SCIP indexer, or lspidx where it is silent, takes for no declaration.
    """

    counts: Mapping[str, Counter[str]]
    neither: int
    references: Mapping[str, Any]
    cases: Sequence[Case]

    def record(self) -> dict[str, Any]:
        """agree_percent: of what both answered; of_scip_percent: of what the SCIP indexer answered."""
        parts = {part: _shares(self.counts[part]) for part in PARTS}
        shapes = Counter((case.verdict, case.shape) for case in self.cases)
        listed = [{"verdict": verdict, "shape": shape, "count": count} for (verdict, shape), count in shapes.most_common()]
        return {"definitions": parts, "neither": self.neither, "references": self.references, "shapes": listed}


def judge(corpus: Corpus, scip_file: Path, sample: Path | None) -> dict[str, Any]:
    """Compares the published index of `corpus` with `scip_file`; writes a sample of every shape of disagreement as JSON lines."""
    lines = Lines(corpus.root)
    ours, theirs = read_lspidx(corpus.root), read_scip(read_index(scip_file), lines)
    found = compare(ours, theirs, lines)
    if sample is not None:
        write_sample(sample, found.cases, ours, theirs, lines)
    return {"with": f"scip-{corpus.language}", **found.record()}


def compare(ours: Side, theirs: Side, lines: Lines) -> Agreement:
    """Every identifier that either side knows."""
    counts: dict[str, Counter[str]] = {part: Counter() for part in PARTS}
    cases: list[Case] = []
    neither = 0
    for spot in sorted(ours.spots | theirs.spots):
        mine, other = ours.targets.get(spot, NOTHING), theirs.targets.get(spot, NOTHING)
        if not mine and not other:
            neither += 1
            continue
        if mine and other:
            verdict = "agree" if mine & other else "differ"
        else:
            verdict = "only_lspidx" if mine else "only_scip"
        is_use = spot not in (theirs if other else ours).definitions
        is_local = spot in ours.locals or spot in theirs.locals
        for part in ("total", _reach(spot, other or mine), "local" if is_local else "global", *(["uses"] if is_use else [])):
            counts[part][verdict] += 1
        if verdict != "agree":
            said = f"{ours.meant.get(spot, '-')} | {theirs.meant.get(spot, '-')}"
            reach = f"{_reach(spot, mine) if mine else '-'} | {_reach(spot, other) if other else '-'}"
            cases.append(Case(spot, verdict, f"{said} ({reach}) {'use' if is_use else 'declaration'} {lines.around(spot)}"))
    return Agreement(counts, neither, _references(ours, theirs), cases)


def _reach(spot: Spot, targets: frozenset[Spot]) -> str:
    if any(target[0] == spot[0] for target in targets):
        return "in_file"
    return "library" if LIBRARY in targets else "cross_file"


def _references(ours: Side, theirs: Side) -> dict[str, Any]:
    """Sets of uses of the symbols that both know, several declarations of one symbol taken together.

    Identifiers that either takes for a declaration are no uses here.
    """
    declared = ours.definitions | theirs.definitions
    groups = _groups(theirs)
    mine_by, theirs_by = (_by_group(side.references, groups) for side in (ours, theirs))
    symbols = exact = shared = either = 0
    jaccard = 0.0
    different: list[tuple[int, Spot, int, int, list[Spot]]] = []
    for group in sorted(mine_by.keys() & theirs_by.keys()):
        mine, other = mine_by[group] - declared, theirs_by[group] - declared
        both, union = len(mine & other), len(mine | other)
        symbols += 1
        exact += mine == other
        jaccard += both / union if union else 1.0
        shared += both
        either += union
        if mine != other:
            different.append((union - both, group, len(mine), len(other), sorted(mine ^ other)[:3]))
    different.sort(key=lambda item: (-item[0], item[1]))
    return {
        "symbols": symbols,
        "same_percent": _percent(exact, symbols),
        "mean_jaccard_percent": round(100 * jaccard / symbols, 3) if symbols else 0.0,
        "shared_percent": _percent(shared, either),
        "shared": shared,
        "either": either,
        "only_known_to_lspidx": len(mine_by.keys() - theirs_by.keys()),
        "only_known_to_scip": len(theirs_by.keys() - mine_by.keys()),
        "most_different": [
            {"declared": _place(group), "lspidx": ours_count, "scip": theirs_count, "for_example": [_place(spot) for spot in spots]}
            for _, group, ours_count, theirs_count, spots in different[:_MOST_DIFFERENT]
        ],
    }


def _groups(side: Side) -> dict[Spot, Spot]:
    """Every place that is one of several of a symbol, to the first of them; symbols that share a place are taken together."""
    first: dict[Spot, Spot] = {}

    def root(place: Spot) -> Spot:
        while first.get(place, place) != place:
            place = first[place]
        return place

    for places in side.joined:
        top = min(root(place) for place in places)
        for place in places:
            first[root(place)] = top
            first[place] = top
    return {place: root(place) for place in first}


def _by_group(references: Mapping[Spot, set[Spot]], groups: Mapping[Spot, Spot]) -> dict[Spot, set[Spot]]:
    found: dict[Spot, set[Spot]] = {}
    for place, uses in references.items():
        found.setdefault(groups.get(place, place), set()).update(uses)
    return found


def read_lspidx(root: Path) -> Side:
    """From the published index's views; a use of a constructor counts as one of the class around it, too."""
    import duckdb

    with duckdb.connect(str(Home(root).require()), read_only=True) as connection:
        rows = connection.execute(
            "SELECT o.path, o.line, o.col, o.symbol IS NOT NULL, o.target_path, o.target_line, o.target_col, s.kind, s.is_local, "
            "list_contains(o.roles, 'definition'), c.path, c.sel_line, c.sel_col "
            "FROM occurrences o LEFT JOIN symbols s ON s.symbol = o.symbol "
            "LEFT JOIN symbols c ON s.kind = 'constructor' AND c.symbol = s.container"
        ).fetchall()
    side = Side()
    targets: dict[Spot, set[Spot]] = {}
    meant: dict[Spot, set[str]] = {}
    for (
        path,
        line,
        col,
        is_known,
        target_path,
        target_line,
        target_col,
        kind,
        is_local,
        is_definition,
        class_path,
        class_line,
        class_col,
    ) in rows:
        spot = (path, line, col)
        side.spots.add(spot)
        if not is_known:
            continue
        found = targets.setdefault(spot, set())
        place = LIBRARY if target_path is None else (target_path, target_line, target_col)
        found.add(place)
        if kind in ("module", "file") and place != LIBRARY:
            found.add((place[0], 0, 0))
        if class_path is not None and not is_definition:
            found.add((class_path, class_line, class_col))
        meant.setdefault(spot, set()).add(f"{'local ' if is_local else ''}{kind}")
        if is_local:
            side.locals.add(spot)
        if is_definition:
            side.definitions.add(spot)
            found.add(spot)
        if place != LIBRARY:
            _ = side.references[place] if spot == place else side.references[place].add(spot)
    side.targets = {spot: frozenset(found) for spot, found in targets.items()}
    side.meant = {spot: "+".join(sorted(kinds)) for spot, kinds in meant.items()}
    return side


def read_scip(documents: Sequence[ScipDocument], lines: Lines) -> Side:
    """From a SCIP index. Occurrences that cover no identifier (modules' names in quotes, whole files) are left out."""
    inside = [document for document in documents if not document.path.startswith("../")]  # scip-go lists what `go test` generates, too
    documents = [_utf16(document, lines) if document.in_bytes else document for document in inside]
    declared: dict[str, set[Spot]] = {}
    own: Counter[str] = Counter()
    for document in documents:
        for item in document.occurrences:
            if item.is_definition:
                declared.setdefault(_symbol(document, item.symbol), set()).add((document.path, item.line, item.col))
                if not item.symbol.startswith("local "):
                    own[_package(item.symbol)] += 1
    side = Side(joined=[frozenset(places) for places in declared.values() if len(places) > 1])
    targets: dict[Spot, set[Spot]] = {}
    meant: dict[Spot, set[str]] = {}
    for document in documents:
        imported = _import_places(document)
        for item in document.occurrences:
            spot = (document.path, item.line, item.col)
            if item.line != item.end_line or not _NAME.fullmatch(lines.text(document.path, item.line, item.col, item.end_col)):
                continue
            if item.symbol.endswith("/") and lines.is_quoted(spot, item.end_col):
                continue
            side.spots.add(spot)
            symbol = _symbol(document, item.symbol)
            places = declared.get(symbol)
            is_local = item.symbol.startswith("local ")
            if places is None:
                if is_local or _package(item.symbol) in own:
                    continue  # declared nowhere: no answer
                places = {LIBRARY}
            if symbol.endswith(_CONSTRUCTOR) and not item.is_definition:
                places = places | declared.get(symbol.removesuffix(_CONSTRUCTOR), set())
            starts = {(path, 0, 0) for path, _, _ in places - {LIBRARY}} if symbol.endswith("/") else set[Spot]()
            targets.setdefault(spot, set()).update(places | starts | imported.get(item.symbol, set()))
            meant.setdefault(spot, set()).add(_kind(item.symbol))
            if is_local:
                side.locals.add(spot)
            if item.is_definition:
                side.definitions.add(spot)
            for place in places - {LIBRARY}:
                _ = side.references[place] if spot == place else side.references[place].add(spot)
    side.targets = {spot: frozenset(found) for spot, found in targets.items()}
    side.meant = {spot: "+".join(sorted(kinds)) for spot, kinds in meant.items()}
    return side


def _import_places(document: ScipDocument) -> dict[str, set[Spot]]:
    """Packages to where the document names them first, before and after the quote: gopls answers with the import."""
    found: dict[str, set[Spot]] = {}
    if document.path.endswith(".go"):
        for item in sorted(document.occurrences, key=lambda item: (item.line, item.col)):
            if item.symbol.endswith("/"):
                found.setdefault(item.symbol, {(document.path, item.line, item.col - lead) for lead in (0, 1)})
    return found


def _utf16(document: ScipDocument, lines: Lines) -> ScipDocument:
    def column(line: int, col: int) -> int:
        text = lines.line(document.path, line)
        if text.isascii():
            return col
        return len(text.encode()[:col].decode("utf-8", "replace").encode("utf-16-le")) // 2

    moved = [item._replace(col=column(item.line, item.col), end_col=column(item.end_line, item.end_col)) for item in document.occurrences]
    return ScipDocument(document.path, moved)


def _symbol(document: ScipDocument, symbol: str) -> str:
    return f"{document.path} {symbol}" if symbol.startswith("local ") else symbol


def _package(symbol: str) -> str:
    """Scheme, manager, name and version of a symbol that is no local."""
    return " ".join(symbol.split(" ", 4)[:4])


def _kind(symbol: str) -> str:
    """The sort of the last descriptor, by its suffix."""
    if symbol.startswith("local "):
        return "local"
    endings = {"().": "method", "/": "namespace", "#": "type", ".": "term", ":": "meta", "!": "macro", "]": "type parameter"}
    if symbol.endswith(_CONSTRUCTOR):
        return "constructor"
    return next((kind for ending, kind in endings.items() if symbol.endswith(ending)), "parameter" if symbol.endswith(")") else "other")


class Lines:
    """The corpus's text by line; columns UTF-16."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}

    def line(self, path: str, line: int) -> str:
        if path not in self._files:
            try:
                text = (self._root / path).read_bytes().decode("utf-8", "replace")
            except OSError:
                text = ""
            self._files[path] = text.replace("\r\n", "\n").split("\n")
        lines = self._files[path]
        return lines[line] if line < len(lines) else ""

    def text(self, path: str, line: int, col: int, end_col: int) -> str:
        text = self.line(path, line)
        if text.isascii():
            return text[col:end_col]
        return text.encode("utf-16-le", "surrogatepass")[2 * col : 2 * end_col].decode("utf-16-le", "replace")

    def is_quoted(self, spot: Spot, end_col: int) -> bool:
        path, line, col = spot
        return self.text(path, line, col - 1, col) in _QUOTES or self.text(path, line, end_col, end_col + 1) in _QUOTES

    def name(self, spot: Spot) -> str:
        found = _NAME.match(self.text(*spot, len(self.line(spot[0], spot[1])) * 2))
        return found.group() if found else ""

    def around(self, spot: Spot) -> str:
        """The signs next to an identifier: what stands before and after it, `x` for the name itself."""
        path, line, col = spot
        before = self.text(path, line, 0, col).rstrip()[-1:]
        after = self.text(path, line, col, 10**6)[len(self.name(spot)) :].lstrip()[:1]
        return f"{_sign(before)}x{_sign(after)}"


def _sign(text: str) -> str:
    return "w" if text.isalnum() or text in {"_", "$"} else text


def write_sample(path: Path, cases: Sequence[Case], ours: Side, theirs: Side, lines: Lines) -> None:
    """The same sample in every run over the same answers, the most frequent shapes first; positions are 1-based."""
    by_shape: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        by_shape.setdefault((case.verdict, case.shape), []).append(case)
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        for (verdict, shape), alike in sorted(by_shape.items(), key=lambda item: (-len(item[1]), item[0])):
            chosen = random.Random(_SEED).sample(alike, min(_PER_SHAPE, len(alike)))
            for case in sorted(chosen, key=lambda case: case.spot):
                row = {
                    "verdict": verdict,
                    "shape": shape,
                    "of": len(alike),
                    "at": _place(case.spot),
                    "name": lines.name(case.spot),
                    "line": lines.line(case.spot[0], case.spot[1]).strip()[:200],
                    "lspidx": _described(ours.targets.get(case.spot, NOTHING), lines),
                    "scip": _described(theirs.targets.get(case.spot, NOTHING), lines),
                }
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _described(targets: frozenset[Spot], lines: Lines) -> list[str]:
    return [
        "library" if target == LIBRARY else f"{_place(target)} {lines.line(target[0], target[1]).strip()[:120]}"
        for target in sorted(targets)
    ]


def _place(spot: Spot) -> str:
    return f"{spot[0]}:{spot[1] + 1}:{spot[2] + 1}"


def _shares(count: Counter[str]) -> dict[str, Any]:
    both = count["agree"] + count["differ"]
    return {
        "both": both,
        "agree_percent": _percent(count["agree"], both),
        "of_scip_percent": _percent(count["agree"], both + count["only_scip"]),
        **{name: count[name] for name in ("agree", "differ", "only_lspidx", "only_scip")},
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 3) if whole else 0.0
