"""What is known of each changed symbol, and the verdict on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Evidence, Role, SymbolKind
from query.changes.compare import Changed, What
from query.changes.diff import churn
from query.changes.effects import Bound, CallSite, Files, call_sites, resolved
from query.changes.interfaces import Lost, known_as, lost
from query.changes.model import Affected, ChangedSymbol, LostInterface
from query.changes.outlines import Outline, kind_label
from query.changes.reach import Reach
from query.changes.rules import LEVELS, Facts, judge
from query.changes.signatures import CALLED_AS, is_compatible
from query.facts.completeness import Certificate
from query.facts.documents import documents
from query.facts.folders import folder_of, folders
from query.facts.index import Index
from query.facts.parameters import Sources
from query.facts.risk import Risk, coverage, risks
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.sync_guards import guarded
from query.facts.uses import uses_of

_CODE = frozenset((*TYPE_KINDS, *CALLABLE_KINDS, SymbolKind.PROPERTY))
_ANNOTATION = int(Role.ANNOTATION)
_MOST_SITES = 50
"""Call sites that are listed for one symbol; their number is exact."""


class Findings:
    """The changed symbols of one review. `index` shows the new side as well as it can, `old` the old one; they may be the same."""

    def __init__(self, index: Index, old: Index, certificate: Certificate, bound: Sequence[Bound], files: Files) -> None:
        self._index, self._old, self._bound, self._files = index, old, bound, files
        self._covered = coverage(index, certificate)
        self._old_covered = self._covered if old is index else coverage(old, Certificate(old))
        self._folders = folders(index)
        self._sources = {id(index): Sources(index), id(old): Sources(old)}
        self._sites, self._risks = self._used()
        self._own_calls = self._calls_of_itself()
        self._lost = lost(old, index, bound, files)
        holders = {id(index): set[int](), id(old): set[int]()}
        for site in (site for sites in self._sites for site in sites):
            holders[id(site.held_by)].add(site.use.holder)
        for item in (item for items in self._lost.values() for item in items):
            holders[id(old)] |= {item.type_id, item.interface_id, *(site.use.holder for site in item.sites[:_MOST_SITES])}
        self._records: dict[int, Mapping[int, Symbol]] = {}
        for side, number in ((index, "new_id"), (old, "old_id")):
            wanted = holders[id(side)] | {getattr(item, number) for item in bound}
            before = self._records.get(id(side), {})
            self._records[id(side)] = {**before, **symbols_by_id(side, sorted(wanted - {-1} - before.keys()))}
        self._packages: dict[str, str] = {}
        for side in (old, index):
            sql = "SELECT d.path, d.doc_id FROM (SELECT unnest($paths::VARCHAR[]) AS path) u JOIN document d USING (path)"
            held = dict(side.rows(sql, {"paths": sorted({item.changed.side.outline.path for item in bound})}))
            known = documents(side, held.values())
            self._packages |= {path: known[doc_id].package for path, doc_id in held.items()}

    def make(self, reach: Reach, of_old: Reach, *, with_churn: bool) -> list[ChangedSymbol]:
        """Ranked, the worst first."""
        locked = {index: guarded(index, {number for number in numbers if number >= 0}) for index, numbers in self._numbers().items()}
        overriding = self._overriding()
        has_tests = bool(self._index.row("SELECT 1 FROM document WHERE is_test AND status <> 'external' LIMIT 1"))
        commits = churn(self._index.root, "HEAD", {item.changed.side.outline.path for item in self._bound}) if with_churn else {}
        found: list[ChangedSymbol] = []
        for number, item in enumerate(self._bound):
            tests = max(reach.counts.get(item.new_id, 0), of_old.counts.get(item.old_id, 0)) if has_tests else -1
            is_locked = item.new_id in locked[self._index] or (item.new_id < 0 and item.old_id in locked[self._old])
            found.append(
                self._one(
                    number,
                    item,
                    tests=tests,
                    locked=is_locked,
                    overrides=overriding.get(number, (0, 0)),
                    commits=commits.get(item.changed.side.outline.path, 0),
                )
            )
        return sorted(found, key=_rank)

    def _numbers(self) -> dict[Index, set[int]]:
        found: dict[Index, set[int]] = {self._index: set(), self._old: set()}
        for item in self._bound:
            found[self._index].add(item.new_id)
            found[self._old].add(item.old_id)
        return found

    def _used(self) -> tuple[list[list[CallSite]], list[Risk | None]]:
        """Uses and ladder by position in `bound`.

        What is still there is looked up in the present index; what is gone, and what has another name or place, in that of the old side
        too: its users are known there only.
        """
        new_ids = {item.new_id for item in self._bound} - {-1}
        old_ids = {item.old_id for item in self._bound if item.new_id < 0 or item.changed.what in ("renamed", "moved")} - {-1}
        new_uses = uses_of(self._index, new_ids, dispatch=True)
        old_uses = uses_of(self._old, old_ids, dispatch=True)
        new, old = call_sites(self._index, new_uses, self._files), call_sites(self._old, old_uses, self._files)
        by_old: dict[int, list[CallSite]] = {}
        for site in resolved(self._index, [site for found in old.values() for site in found], self._files):
            by_old.setdefault(site.use.sym_id, []).append(site)
        new_risks = risks(self._index, Certificate(self._index), new_ids, new_uses, covered=self._covered)
        gone = {item.old_id for item in self._bound if item.new_id < 0} - {-1}
        old_risks = risks(
            self._old, Certificate(self._old), gone, [use for use in old_uses if use.sym_id in gone], covered=self._old_covered
        )
        sites: list[list[CallSite]] = []
        levels: list[Risk | None] = []
        for item in self._bound:
            ours = new.get(item.new_id, [])
            theirs = [] if self._old is self._index and item.old_id == item.new_id else by_old.get(item.old_id, [])
            if ours:  # a use that the change rewrites is among ours
                theirs = [site for site in theirs if not site.updated]
            sites.append([*ours, *theirs])
            levels.append(new_risks.get(item.new_id) if item.new_id >= 0 else old_risks.get(item.old_id))
        return sites, levels

    def _overriding(self) -> dict[int, tuple[int, int]]:
        """By position in `bound`: members that override it, and those of them that the change leaves alone."""
        found: dict[int, tuple[int, int]] = {}
        for index, in_old in ((self._index, False), (self._old, True)):
            ids: dict[int, list[int]] = {}
            for number, item in enumerate(self._bound):
                sym_id = item.new_id if not in_old else item.old_id if item.new_id < 0 else -1
                if sym_id >= 0:
                    ids.setdefault(sym_id, []).append(number)
            rows = index.rows(
                """
                WITH asked AS (SELECT unnest($ids::INTEGER[]) AS id), below AS (
                    SELECT o.super_id, o.sub_id FROM asked a JOIN override o ON o.super_id = a.id
                    UNION  -- of several interfaces that ask for one member, `override` knows one
                    SELECT b.sym_id, m.sym_id FROM asked a JOIN symbol b ON b.sym_id = a.id
                    JOIN type_edge_rev e ON e.super_id = b.container_id
                    JOIN symbol m ON m.container_id = e.sub_id AND m.name = b.name WHERE b.kind IN (6, 7) AND m.kind IN (6, 7)
                )
                SELECT o.super_id, d.path, s.sel_line FROM below o
                JOIN symbol s ON s.sym_id = o.sub_id JOIN document d ON d.doc_id = s.doc_id WHERE s.kind <> 9 ORDER BY ALL
                """,
                {"ids": sorted(ids)},
            )
            for super_id, path, line in rows:
                for number in ids[super_id]:
                    count, stale = found.get(number, (0, 0))
                    found[number] = (count + 1, stale + (not self._files.updated(self._files.side_of(index, path), path, line)))
        return found

    def _one(self, number: int, item: Bound, *, tests: int, locked: bool, overrides: tuple[int, int], commits: int) -> ChangedSymbol:
        changed = item.changed
        side, entity = changed.side, changed.entity
        outline, old = side.outline, changed.old
        mine = self._sites[number]
        found = self._records[id(self._index)].get(item.new_id) or self._records[id(self._old)].get(item.old_id)
        record = found.record if found else None
        outside = [site for site in mine if not site.use.is_test]
        in_tests = [site for site in mine if site.use.is_test]
        uses = [site for site in outside if site.use.relation != "import" and not _only_named(site, outline.language)]
        packages = sorted({_package_of(site) for site in uses})
        own_package = self._package(outline.path)
        compatible = changed.what == "signature" and _is_compatible(changed)
        breaks = _breaks(changed, compatible=compatible)
        own = self._own_calls.get(item.new_id, []) if breaks and changed.what == "signature" else []
        interfaces = [self._interface(item) for item in self._lost.get(number, ())]
        risk = self._risks[number]
        known = item.new_id >= 0 or item.old_id >= 0
        covered = self._covered(outline.path) if item.new_id >= 0 else self._old_covered(outline.path)
        facts = Facts(
            what=changed.what,
            kind=kind_label(entity.kind),
            exported=entity.exported and bool(entity.chain) and all(not name.startswith("_") for name in entity.chain),
            is_test=outline.is_test or bool(record and record.is_test),
            callers=len({(id(site.held_by), site.use.holder) for site in uses}),
            packages=len(packages),
            other_packages=sum(name != own_package for name in packages),
            sites=len(uses),
            stale_sites=sum(_is_broken(site, changed.what) for site in outside) + len(own) if breaks else 0,
            stale_tests=sum(_is_broken(site, changed.what) for site in in_tests) if breaks else 0,
            overrides=overrides[0],
            stale_overrides=overrides[1],
            tests=tests,
            sync_guarded=locked,
            commits=commits,
            covered=known and covered and not (risk is not None and "unresolved_same_name" in risk.reasons),
            other_folders=len(
                {folder_of(site.path, self._folders).prefix for site in uses} - {folder_of(outline.path, self._folders).prefix}
            ),
            compatible=compatible,
            has_code=entity.kind in _CODE or not entity.chain,
            broken=tuple(_lost_in_words(item) for item in interfaces if item.used or item.declared),
            left=tuple(_lost_in_words(item) for item in interfaces if not (item.used or item.declared)),
        )
        verdict = judge(facts)
        return ChangedSymbol(
            name=entity.name or outline.module or outline.path,
            qualified_name=_qualified(outline, entity.chain),
            symbol=record.symbol if record else "",
            kind=facts.kind,
            what=changed.what,
            file=outline.path,
            line=entity.sel_line + 1,
            end_line=entity.spans[0][1],
            risk=risk.level if risk is not None else "unknown",
            level=verdict.level,
            reasons=[code for code, _ in verdict.reasons],
            says=[text for _, text in verdict.reasons],
            language=outline.language,
            old_name=".".join(old[1].chain) if old and old[1].chain != entity.chain else "",
            old_file=old[0].outline.path if old and old[0].outline.path != outline.path else "",
            old_line=old[1].sel_line + 1 if old else 0,
            signature=entity.signature,
            old_signature=old[1].signature if old and old[1].signature != entity.signature else "",
            exported=facts.exported,
            is_test=facts.is_test,
            sync_guarded=locked,
            lines=changed.touched,
            likeness=round(changed.likeness, 2),
            callers=facts.callers,
            packages=packages,
            stale_sites=facts.stale_sites,
            stale_tests=facts.stale_tests,
            overrides=overrides[0],
            tests=max(0, tests),
            commits=commits,
            affected=[*own, *(self._affected(site) for site in _ordered(mine)[:_MOST_SITES])],
            interfaces=interfaces,
        )

    def _interface(self, item: Lost) -> LostInterface:
        own, theirs = (self._records[id(self._old)][sym_id].record for sym_id in (item.type_id, item.interface_id))
        return LostInterface(
            name=known_as(theirs.symbol).removeprefix("builtin.") or theirs.qualified_name,
            symbol=theirs.symbol,
            path=theirs.path,
            line=0 if item.external else theirs.line,
            type=own.qualified_name,
            how=item.how,
            used=item.used,
            external=item.external,
            declared=item.declared,
            sites=[self._affected(site) for site in item.sites[:_MOST_SITES]],
        )

    def _calls_of_itself(self) -> dict[int, list[Affected]]:
        """Calls in a symbol's own text whose line the change leaves alone, by number: of another declaration they are easily forgotten."""
        ids = sorted({item.new_id for item in self._bound if item.changed.what == "signature"} - {-1})
        rows = self._index.rows(
            """
            SELECT c.callee, c.doc_id, c.line, c.evidence, s.qualified_name, s.moniker
            FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id AND c.caller = u.id
            JOIN symbol s ON s.sym_id = u.id WHERE c.evidence <> 7 ORDER BY ALL
            """,
            {"ids": ids},
        )
        docs = documents(self._index, {row[1] for row in rows})
        found: dict[int, list[Affected]] = {}
        for sym_id, doc_id, line, evidence, name, moniker in rows:
            document = docs[doc_id]
            side = self._files.side_of(self._index, document.path)
            if not self._files.touches(side, document.path, line):
                found.setdefault(sym_id, []).append(
                    Affected(
                        path=document.path,
                        line=line + 1,
                        caller=name,
                        symbol=moniker,
                        package=document.package,
                        relation="call",
                        evidence=Evidence(evidence).label,
                        updated=False,
                        side=side,
                        is_test=document.is_test,
                        text=self._sources[id(self._index)].line(document.path, line),
                    )
                )
        return found

    def _package(self, path: str) -> str:
        return self._packages.get(path) or path.rpartition("/")[0] or "."

    def _affected(self, site: CallSite) -> Affected:
        holder = self._records[id(site.held_by)].get(site.use.holder)
        return Affected(
            path=site.path,
            line=site.use.line + 1,
            caller=holder.record.qualified_name if holder else "",
            symbol=holder.record.symbol if holder else "",
            package=_package_of(site),
            relation=site.use.relation,
            evidence=Evidence(site.use.evidence).label,
            updated=site.updated,
            resolves=site.resolves,
            side=site.side,
            is_test=site.use.is_test,
            dispatch=site.use.dispatch,
            text=self._sources[id(site.held_by)].line(site.path, site.use.line),
        )


def _package_of(site: CallSite) -> str:
    return documents(site.held_by, [site.use.doc_id])[site.use.doc_id].package


def _lost_in_words(item: LostInterface) -> str:
    place = item.path if item.external else f"{item.path}:{item.line}"
    said = f"{item.type} no longer satisfies {item.name} ({place})"
    first = next((site for site in item.sites if not site.updated and not site.is_test), None)
    if first is not None:
        more = f" and {item.used - 1} more" if item.used > 1 else ""
        return f"{said}, as which it is used at {first.path}:{first.line}{more}"
    return f"{said}, which it says that it is" if item.declared else said


def _is_compatible(changed: Changed) -> bool:
    assert changed.old is not None
    before, after = changed.old[1], changed.entity
    if (before.flags ^ after.flags) & CALLED_AS:
        return False
    return is_compatible(changed.side.outline.language, after.kind, before.signature, after.signature)


def _breaks(changed: Changed, *, compatible: bool) -> bool:
    """Whether its users have to be changed with it. Who names a type does not depend on how its declaration begins."""
    if changed.what == "signature":
        return not compatible and changed.entity.kind not in TYPE_KINDS
    return changed.what in ("removed", "renamed", "moved")


def _is_broken(site: CallSite, what: What) -> bool:
    """An import does not depend on a declaration, only on what it names being there."""
    return site.is_stale and (what != "signature" or site.use.relation != "import")


def _only_named(site: CallSite, language: str) -> bool:
    """An annotation of Python says something to a type checker; nothing that runs depends on it."""
    return language == "python" and site.use.relation == "reference" and bool(site.use.roles & _ANNOTATION)


def _qualified(outline: Outline, chain: tuple[str, ...]) -> str:
    return ".".join([*([outline.module] if outline.module else []), *chain]) or outline.path


def _ordered(sites: Collection[CallSite]) -> list[CallSite]:
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
