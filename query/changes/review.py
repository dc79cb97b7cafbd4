"""A change as reviewers need it: what became of each symbol, who is affected, which tests reach it, how risky it is.

One model (`Review`) that `detect_changes` and every report is made of; nothing else decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from indexer.model import Evidence, Role
from indexer.servers.registry import language_of, languages_present
from query.answer import Completeness, Provenance, Reason
from query.changes import bases
from query.changes.compare import Changed, Side, What, compare, is_compatible, match_moved
from query.changes.diff import STAGED, WORK_TREE, Diff, FileChange, Sides, blobs, churn, diff, read_file
from query.changes.effects import CallSite, Files, Reach, bind, call_sites, tests_reaching
from query.changes.outlines import Outline, from_index, from_text, kind_label, lookup
from query.changes.rules import LEVELS, Facts, Level, judge, worst
from query.completeness import DEFINITION, Certificate, provenance
from query.folders import folder_of, folders
from query.impact import Level as Ladder
from query.impact import around, coverage, documents, guarded, scopes, unresolved_names
from query.index import Index
from query.page import Sources
from query.symbols import Symbol, symbols_by_id

Progress = Callable[[int, int, str], None]

TEST_DEPTH = 8
_TYPES = (5, 10, 11, 23)
_CODE = (*_TYPES, 6, 7, 9, 12)
_ANNOTATION = int(Role.ANNOTATION)
_MOST_SITES = 50
"""Call sites and tests that are listed for one symbol; their numbers are exact."""


class Affected(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A place that uses what was changed. Lines 1-based, on the side that is named; `updated`: this change touches what is around it."""

    path: str
    line: int
    caller: str
    symbol: str
    package: str
    relation: Literal["call", "reference", "import"]
    evidence: str
    updated: bool
    side: Literal["old", "new"]
    is_test: bool = False
    dispatch: bool = False
    text: str = ""


class AffectedTest(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A test that reaches the change. `selector`: as its runner takes it on the command line. `via`: the nearest changed symbol."""

    selector: str
    path: str
    line: int
    name: str
    distance: int
    via: str
    runner: Literal["pytest", "go", "cargo", "file"]
    import_only: bool = False


class ChangedSymbol(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One symbol, placed on the new side, or on the old one where it is gone. `lines`: of its own that differ, old and new."""

    name: str
    qualified_name: str
    symbol: str
    kind: str
    what: What
    file: str
    line: int
    risk: Annotated[Ladder, msgspec.Meta(description="by who calls it outside tests: several packages, its own only, nobody, not known")]
    level: Annotated[Level, msgspec.Meta(description="by the table of rules: what this change of it may do")]
    reasons: Annotated[list[str], msgspec.Meta(description="codes of the rules that hold, the strongest first")]
    says: Annotated[list[str], msgspec.Meta(description="the same in words")]
    language: str = ""
    end_line: int = 0
    old_name: str = ""
    old_file: str = ""
    old_line: int = 0
    signature: str = ""
    old_signature: str = ""
    exported: bool = False
    is_test: bool = False
    sync_guarded: bool = False
    lines: tuple[int, int] = (0, 0)
    likeness: float = 1.0
    callers: int = 0
    packages: list[str] = []
    stale_sites: int = 0
    overrides: int = 0
    tests: int = 0
    commits: int = 0
    affected: list[Affected] = []


class ChangedFile(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A file that differs. `read`: where its symbols come from on either side: `index`, `text`, or empty where it was not read."""

    path: str
    status: Literal["added", "deleted", "modified", "renamed"]
    added: int
    removed: int
    old_path: str = ""
    language: str = ""
    old_read: str = ""
    new_read: str = ""
    special: str = ""
    symbols: int = 0


class Totals(msgspec.Struct, kw_only=True):
    files: int
    symbols: int
    by_what: dict[str, int]
    by_level: dict[str, int]
    non_test_callers: int
    stale_sites: int
    tests: int
    lines_added: int
    lines_removed: int


class Review(msgspec.Struct, kw_only=True):
    """A whole change. Symbols are ranked: the first ones are those that a reviewer should read."""

    compared: str
    old: str
    new: str
    level: Level
    files: list[ChangedFile]
    symbols: list[ChangedSymbol]
    tests: list[AffectedTest]
    totals: Totals
    completeness: Completeness
    provenance: Provenance
    base: Annotated[str, msgspec.Meta(description="where facts of the old side come from: index, base index, made, text")]


class Ask(NamedTuple):
    """What to compare and how far to look. `make_base`: crawl the old side where no index of it is here."""

    sides: Sides
    make_base: bool = False
    test_depth: int = TEST_DEPTH
    with_churn: bool = False


def review(index: Index, certificate: Certificate, ask: Ask, *, progress: Progress = lambda done, total, what: None) -> Review:
    """Compares two trees of the repository around the index's root.

    Raises:
        UsageError: git cannot compare them. Whatever a crawl of the base raises, where one was asked for.
    """
    found = diff(index.root, ask.sides)
    sources = _Contents(index.root, found)
    base, base_from = _base(index, ask, found, progress)
    outlines = _Outlines([index, *([base] if base is not None and base is not index else [])], found, sources)
    changed: list[Changed] = []
    parts: list[tuple[FileChange, Side | None, Side | None]] = []
    for item in found.files:
        old, new = outlines.side(item, "old"), outlines.side(item, "new")
        parts.append((item, old, new))
        if old is not None or new is not None:
            changed += compare(item, old, new)
    changed = match_moved(changed)
    files = Files((item, old and old.outline, new and new.outline, _count(old), _count(new)) for item, old, new in parts)
    return _Review(index, certificate, ask, found, base, base_from, parts, changed, files).make()


def _count(side: Side | None) -> int:
    return len(side.lines) if side else 0


def _base(index: Index, ask: Ask, found: Diff, progress: Progress) -> tuple[Index | None, str]:
    """The index of the old side and where it comes from. The present one is it, where it holds what the files were."""
    old = [(item.old_path, item.old_blob) for item in found.files if item.old_blob and _language(item.old_path)]
    held = lookup([index], old)
    if len(held) == len(set(old)):
        return index, "index"
    if ask.sides.old == STAGED:
        return index if held else None, "text" if not held else "index"
    other = bases.find(index, ask.sides.old)
    if other is not None:
        return other, "base index"
    if ask.make_base:
        return bases.make(index, ask.sides.old, progress=progress), "made"
    return None, "text"


def _language(path: str) -> str:
    return language_of(path, languages_present([path]))


class _Contents:
    """Texts of both sides."""

    def __init__(self, root: Path, found: Diff) -> None:
        self._root, self._new = root, found.sides.new
        names = [item.old_blob for item in found.files if not item.special and _language(item.old_path)]
        if found.sides.new != WORK_TREE:
            names += [item.new_blob for item in found.files if not item.special and _language(item.new_path)]
        self._blobs = blobs(root, names)

    def old(self, item: FileChange) -> bytes | None:
        return self._blobs.get(item.old_blob)

    def new(self, item: FileChange) -> bytes | None:
        if self._new == WORK_TREE:
            return read_file(self._root, item.new_path) if item.new_path else None
        return self._blobs.get(item.new_blob)


class _Outlines:
    """Outlines of both sides of all files: from the first index that holds the content, else from the text."""

    def __init__(self, indexes: Sequence[Index], found: Diff, contents: _Contents) -> None:
        self._contents = contents
        wanted = [(item.old_path, item.old_blob) for item in found.files if item.old_blob and not item.special]
        wanted += [(item.new_path, item.new_blob) for item in found.files if item.new_blob and not item.special]
        self._known = lookup(indexes, wanted)
        self._held: dict[int, dict[tuple[str, int], Outline]] = {}
        for index in indexes:
            of_one = [known for known in self._known.values() if known.held_by is index]
            self._held[id(index)] = from_index(of_one)

    def side(self, item: FileChange, which: Literal["old", "new"]) -> Side | None:
        path, blob = (item.old_path, item.old_blob) if which == "old" else (item.new_path, item.new_blob)
        if not path or item.special or not _language(path):
            return None
        content = self._contents.old(item) if which == "old" else self._contents.new(item)
        if content is None:
            return None
        known = self._known.get((path, blob))
        if known is not None:
            outline: Outline | None = self._held[id(known.held_by)][path, known.doc_id]
        else:
            outline = from_text(path, content)
        if outline is None or not outline.entities:
            return None
        return Side(outline, content.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n"))


class _Review:
    """One review under way: numbers in the indexes, uses, tests, verdicts."""

    def __init__(
        self,
        index: Index,
        certificate: Certificate,
        ask: Ask,
        found: Diff,
        base: Index | None,
        base_from: str,
        parts: Sequence[tuple[FileChange, Side | None, Side | None]],
        changed: Sequence[Changed],
        files: Files,
    ) -> None:
        self.index, self.certificate, self.ask, self.found, self.files = index, certificate, ask, found, files
        self.base, self.base_from, self.parts = base, base_from, parts
        self.bound = bind(changed, base or index, index)
        self.covered = coverage(index, certificate)

    def make(self) -> Review:
        sites, names = self._sites()
        reach = tests_reaching(self.index, {item.new_id for item in self.bound}, depth=self.ask.test_depth)
        gone = {item.old_id for item in self.bound if item.changed.what == "removed"}
        of_old = tests_reaching(self.old_index, gone, depth=self.ask.test_depth)
        tests = self._tests(reach, of_old)
        capped = reach.capped or of_old.capped
        symbols = self._symbols(sites, names, reach)
        symbols.sort(key=_rank)
        by_what: dict[str, int] = {}
        by_level: dict[str, int] = dict.fromkeys(LEVELS, 0)
        for item in symbols:
            by_what[item.what] = by_what.get(item.what, 0) + 1
            by_level[item.level] += 1
        listed = [self._file(*part, symbols) for part in self.parts]
        callers = {place.symbol for item in symbols for place in item.affected if not place.is_test and place.relation != "import"}
        return Review(
            compared=self.found.sides.described,
            old=self.found.sides.old,
            new=self.found.sides.new,
            level=worst(item.level for item in symbols),
            files=listed,
            symbols=symbols,
            tests=tests,
            totals=Totals(
                files=len(listed),
                symbols=len(symbols),
                by_what=by_what,
                by_level=by_level,
                non_test_callers=len(callers),
                stale_sites=sum(item.stale_sites for item in symbols),
                tests=len(tests),
                lines_added=sum(item.added for item in listed),
                lines_removed=sum(item.removed for item in listed),
            ),
            completeness=self._completeness(capped),
            provenance=provenance(self.index),
            base=self.base_from,
        )

    # ---- uses

    @property
    def old_index(self) -> Index:
        return self.base or self.index

    def _sites(self) -> tuple[dict[int, list[CallSite]], dict[int, dict[int, Symbol]]]:
        """Sites by position in `bound`, and records of the callers by index.

        What is still there is looked up in the present index; what is gone, and what has another name or place, in that of the old side
        too: its users are known there only.
        """
        old_index = self.old_index
        new = call_sites(self.index, {item.new_id for item in self.bound} - {-1}, self.files)
        wanted_old = {item.old_id for item in self.bound if item.changed.what in ("removed", "renamed", "moved")} - {-1}
        old = call_sites(old_index, wanted_old, self.files)
        found: dict[int, list[CallSite]] = {}
        holders: dict[int, set[int]] = {id(self.index): set(), id(old_index): set()}
        for number, item in enumerate(self.bound):
            ours = new.get(item.new_id, [])
            theirs = [] if old_index is self.index and item.old_id == item.new_id else old.get(item.old_id, [])
            if ours:  # a use that the change rewrites is among ours
                theirs = [site for site in theirs if not site.updated]
            found[number] = [*ours, *theirs]
            holders[id(self.index)] |= {site.use.holder for site in ours}
            holders[id(old_index)] |= {site.use.holder for site in theirs}
        names = {id(self.index): symbols_by_id(self.index, sorted(holders[id(self.index)] - {-1}))}
        if old_index is not self.index:
            names[id(old_index)] = symbols_by_id(old_index, sorted(holders[id(old_index)] - {-1}))
        return found, names

    # ---- tests

    def _tests(self, reach: Reach, of_old: Reach) -> list[AffectedTest]:
        told: dict[tuple[str, str], AffectedTest] = {}
        for index, items in ((self.index, reach.tests), (self.old_index, of_old.tests)):
            records = symbols_by_id(index, sorted({item.holder for item in items} | {item.via for item in items}))
            known = scopes(index, [item.holder for item in items])
            docs = documents(index, {known[item.holder].doc_id for item in items})
            for item in items:
                record = records[item.holder].record
                language = docs[known[item.holder].doc_id].language
                classes = [known[step].name for step in around(index, item.holder) if known[step].kind in _TYPES]
                made = AffectedTest(
                    selector=_selector(item.path, record.name, record.kind, language, classes),
                    path=item.path,
                    line=record.line,
                    name=record.name,
                    distance=item.distance,
                    via=records[item.via].record.qualified_name,
                    runner=_runner(language),
                    import_only=item.import_only,
                )
                told.setdefault((made.path, made.selector), made)
        gone = {item.old_path for item in self.found.files if item.status == "deleted"}
        kept = [item for item in told.values() if item.path not in gone]
        return sorted(kept, key=lambda item: (item.import_only, item.distance, item.path, item.line))

    # ---- verdicts

    def _symbols(self, sites: Mapping[int, list[CallSite]], names: Mapping[int, Mapping[int, Symbol]], reach: Reach) -> list[ChangedSymbol]:
        new_ids = [item.new_id for item in self.bound if item.new_id >= 0]
        locked = guarded(self.index, new_ids)
        overriding = self._overriding()
        has_tests = bool(self.index.row("SELECT 1 FROM document WHERE is_test AND status <> 'external' LIMIT 1"))
        commits = churn(self.index.root, "HEAD", {item.changed.side.outline.path for item in self.bound}) if self.ask.with_churn else {}
        known = folders(self.index)
        sources = Sources(self.index)
        records = symbols_by_id(self.index, sorted(set(new_ids)))
        old_records = symbols_by_id(self.old_index, sorted({item.old_id for item in self.bound if item.new_id < 0 <= item.old_id}))
        doubts = self._doubts()
        result: list[ChangedSymbol] = []
        for number, item in enumerate(self.bound):
            changed = item.changed
            side, entity = changed.side, changed.entity
            mine = sites[number]
            record = (
                records[item.new_id].record if item.new_id >= 0 else old_records[item.old_id].record if item.old_id in old_records else None
            )
            outside = [site for site in mine if not site.use.is_test]
            uses = [site for site in outside if site.use.relation != "import" and not _only_named(site, side.outline.language)]
            own_package = self._package(side.outline.path)
            packages = sorted({self._package_of(site) for site in uses})
            stale = [site for site in outside if not site.updated and not site.use.dispatch]
            old = changed.old
            compatible = changed.what == "signature" and old is not None and is_compatible(side.outline.language, old[1], entity)
            overrides, stale_overrides = overriding.get(number, (0, 0))
            is_test = side.outline.is_test or bool(record and record.is_test)
            home = folder_of(side.outline.path, known)
            facts = Facts(
                what=changed.what,
                kind=kind_label(entity.kind),
                exported=entity.exported and bool(entity.chain) and all(not name.startswith("_") for name in entity.chain),
                is_test=is_test,
                callers=len({(id(site.held_by), site.use.holder) for site in uses}),
                packages=len(packages),
                other_packages=sum(name != own_package for name in packages),
                sites=len(uses),
                stale_sites=len(stale) if _breaks(changed, compatible=compatible) else 0,
                overrides=overrides,
                stale_overrides=stale_overrides,
                tests=reach.counts.get(item.new_id, 0) if has_tests else -1,
                sync_guarded=item.new_id in locked,
                commits=commits.get(side.outline.path, 0),
                covered=self.covered(side.outline.path) and number not in doubts and (item.new_id >= 0 or item.old_id >= 0),
                other_folders=len({folder_of(site.path, known).prefix for site in uses} - {home.prefix}),
                compatible=compatible,
                has_code=entity.kind in _CODE or not entity.chain,
            )
            verdict = judge(facts)
            result.append(
                ChangedSymbol(
                    name=entity.name or side.outline.module or side.outline.path,
                    qualified_name=_qualified(side.outline, entity.chain),
                    symbol=record.symbol if record else "",
                    kind=kind_label(entity.kind),
                    what=changed.what,
                    file=side.outline.path,
                    line=entity.sel_line + 1,
                    end_line=entity.spans[0][1],
                    risk=_ladder(facts),
                    level=verdict.level,
                    reasons=[code for code, _ in verdict.reasons],
                    says=[text for _, text in verdict.reasons],
                    language=side.outline.language,
                    old_name=".".join(old[1].chain) if old and old[1].chain != entity.chain else "",
                    old_file=old[0].outline.path if old and old[0].outline.path != side.outline.path else "",
                    old_line=old[1].sel_line + 1 if old else 0,
                    signature=entity.signature,
                    old_signature=old[1].signature if old and old[1].signature != entity.signature else "",
                    exported=facts.exported,
                    is_test=is_test,
                    sync_guarded=facts.sync_guarded,
                    lines=changed.touched,
                    likeness=round(changed.likeness, 2),
                    callers=facts.callers,
                    packages=packages,
                    stale_sites=facts.stale_sites,
                    overrides=overrides,
                    tests=max(0, facts.tests),
                    commits=facts.commits,
                    affected=[self._affected(site, names, sources) for site in _ordered(mine)[:_MOST_SITES]],
                )
            )
        return result

    def _overriding(self) -> dict[int, tuple[int, int]]:
        """By position in `bound`: members that override it, and those of them that the change leaves alone."""
        ids = {item.new_id: number for number, item in enumerate(self.bound) if item.new_id >= 0}
        rows = self.index.rows(
            """
            SELECT o.super_id, d.path, s.sel_line FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN override o ON o.super_id = u.id
            JOIN symbol s ON s.sym_id = o.sub_id JOIN document d ON d.doc_id = s.doc_id ORDER BY ALL
            """,
            {"ids": sorted(ids)},
        )
        found: dict[int, tuple[int, int]] = {}
        for super_id, path, line in rows:
            count, stale = found.get(ids[super_id], (0, 0))
            found[ids[super_id]] = (count + 1, stale + (not self.files.updated("new", path, line)))
        return found

    def _doubts(self) -> set[int]:
        """Positions in `bound` of symbols whose name nobody could resolve somewhere."""
        rows = {item.new_id: number for number, item in enumerate(self.bound) if item.new_id >= 0}
        known = scopes(self.index, rows)
        unresolved = unresolved_names(self.index, [(sym_id, known[sym_id].doc_id, known[sym_id].name) for sym_id in rows])
        return {rows[sym_id] for sym_id in unresolved}

    def _package(self, path: str) -> str:
        for index in (self.index, self.base):
            row = index.row("SELECT doc_id FROM document WHERE path = ?", [path]) if index is not None else None
            if index is not None and row is not None:
                return documents(index, [row[0]])[row[0]].package
        return path.rpartition("/")[0] or "."

    @staticmethod
    def _package_of(site: CallSite) -> str:
        return documents(site.held_by, [site.use.doc_id])[site.use.doc_id].package

    def _affected(self, site: CallSite, names: Mapping[int, Mapping[int, Symbol]], sources: Sources) -> Affected:
        holder = names[id(site.held_by)].get(site.use.holder)
        return Affected(
            path=site.path,
            line=site.use.line + 1,
            caller=holder.record.qualified_name if holder else "",
            symbol=holder.record.symbol if holder else "",
            package=self._package_of(site),
            relation=site.use.relation,
            evidence=Evidence(site.use.evidence).label,
            updated=site.updated,
            side=site.side,
            is_test=site.use.is_test,
            dispatch=site.use.dispatch,
            text=sources.line(site.path, site.use.line) if site.held_by is self.index else "",
        )

    # ---- the rest

    def _file(self, item: FileChange, old: Side | None, new: Side | None, symbols: Sequence[ChangedSymbol]) -> ChangedFile:
        return ChangedFile(
            path=item.path,
            status=item.status,
            old_path=item.old_path if item.old_path != item.path else "",
            language=_language(item.path),
            added=sum(hunk.new_end - hunk.new_start for hunk in item.hunks),
            removed=sum(hunk.old_end - hunk.old_start for hunk in item.hunks),
            old_read=_read(old),
            new_read=_read(new),
            special=item.special,
            symbols=sum(symbol.file == item.path for symbol in symbols),
        )

    def _completeness(self, capped: bool) -> Completeness:
        whole = self.certificate.of_workspace(DEFINITION, holds=None)
        reasons = list(whole.reasons)
        removed = [item for item in self.bound if item.changed.what == "removed" and item.old_id < 0]
        if removed:
            detail = (
                f"{len(removed)} symbols are gone whose callers are not known, since no index of the old side is here; "
                "to make one: --make-base"
            )
            paths = sorted({item.changed.side.outline.path for item in removed})
            reasons.append(Reason(code="base_not_indexed", detail=detail, count=len(removed), paths=paths[:20]))
        fresh = [item for item in self.bound if item.changed.what == "added" and item.new_id < 0]
        if fresh:
            detail = f"{len(fresh)} new symbols are not in the index yet, so nothing is known of who uses them"
            reasons.append(Reason(code="not_indexed_yet", detail=detail, count=len(fresh)))
        unread = [item.path for item, old, new in self.parts if not item.special and _language(item.path) and old is None and new is None]
        if unread:
            detail = f"{len(unread)} changed files could not be read as text of their language"
            reasons.append(Reason(code="not_read", detail=detail, count=len(unread), paths=unread[:20]))
        if capped:
            reasons.append(
                Reason(code="search_cut", detail="the search for tests ended early: more than can be visited depends on the change")
            )
        status = whole.status if whole.status == "unknown" else "partial" if reasons else "complete"
        return Completeness(status=status, reasons=reasons)


def _ladder(facts: Facts) -> Ladder:
    """As `query.impact.Risk` says it, from what is known of the change: also of a symbol that is gone."""
    if facts.packages > 1 or facts.other_packages:
        return "high"
    if facts.packages:
        return "medium"
    return "low" if facts.covered else "unknown"


def _breaks(changed: Changed, *, compatible: bool) -> bool:
    """Whether its users have to be changed with it. Who names a type does not depend on how its declaration begins."""
    if changed.what == "signature":
        return not compatible and changed.entity.kind not in _TYPES
    return changed.what in ("removed", "renamed", "moved")


def _only_named(site: CallSite, language: str) -> bool:
    """An annotation of Python says something to a type checker; nothing that runs depends on it."""
    return language == "python" and site.use.relation == "reference" and bool(site.use.roles & _ANNOTATION)


def _read(side: Side | None) -> str:
    return "" if side is None else "index" if side.outline.held_by is not None else "text"


def _qualified(outline: Outline, chain: tuple[str, ...]) -> str:
    return ".".join([*([outline.module] if outline.module else []), *chain]) or outline.path


def _ordered(sites: Sequence[CallSite]) -> list[CallSite]:
    """Those that the change leaves alone first, calls before references before imports, tests last."""
    order = {"call": 0, "reference": 1, "import": 2}
    return sorted(
        sites, key=lambda site: (site.use.is_test, site.updated, order[site.use.relation], site.path, site.use.line, site.use.col)
    )


_WHAT_ORDER: dict[What, int] = {"removed": 0, "signature": 1, "renamed": 2, "moved": 3, "body": 4, "added": 5, "docs": 6}


def _rank(item: ChangedSymbol) -> tuple[int, int, int, int, int, str, int]:
    return (
        LEVELS.index(item.level), -item.stale_sites, _WHAT_ORDER[item.what], -item.callers, -sum(item.lines), item.file, item.line,
    )  # fmt: skip


def _runner(language: str) -> Literal["pytest", "go", "cargo", "file"]:
    known: dict[str, Literal["pytest", "go", "cargo"]] = {"python": "pytest", "go": "go", "rust": "cargo"}
    return known.get(language, "file")


def _selector(path: str, name: str, kind: str, language: str, classes: Sequence[str]) -> str:
    """What the language's test runner takes: `tests/test_app.py::TestX::test_y`, a Go test's name, a file."""
    if kind == "module" or language not in ("python", "go", "rust"):
        return path
    return "::".join([path, *reversed(classes), name]) if language == "python" else name
