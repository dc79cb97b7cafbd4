"""What is known of each changed symbol, and the verdict on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Evidence, Role, SymbolKind
from query.answers.envelope import SymbolRecord
from query.changes.compare import Changed, What
from query.changes.diff import churn
from query.changes.effects import Bound, CallSite, Files, call_sites, led_along, resolved
from query.changes.interfaces import Lost, known_as, lost
from query.changes.model import Affected, ChangedSymbol, LostInterface
from query.changes.outlines import Outline, kind_label
from query.changes.reach import Reach
from query.changes.rules import LEVELS, Facts, judge
from query.changes.signatures import CALLED_AS, is_compatible
from query.facts.completeness import DEFINITION, Certificate
from query.facts.documents import contents, documents
from query.facts.folders import folder_of, folders
from query.facts.hierarchy import overriders
from query.facts.index import Index
from query.facts.inline_tests import has_tests
from query.facts.risk import Risk, risks
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.sync_guards import guarded
from query.facts.uses import calls_of_itself, uses_of

_CODE = frozenset((*TYPE_KINDS, *CALLABLE_KINDS, SymbolKind.PROPERTY))
_ANNOTATION = int(Role.ANNOTATION)
_MOST_SITES = 50
"""Call sites that are listed for one symbol; their number is exact."""


class _Found(NamedTuple):
    """What was found of one changed symbol, before anything is judged.

    sites: all uses. uses: those outside tests that depend on it when the program runs. own_calls: calls in its own text that the change
    leaves alone, where they break. record: as an index has the symbol; None where neither does.
    """

    item: Bound
    sites: Sequence[CallSite]
    uses: Sequence[CallSite]
    own_calls: Sequence[Affected]
    interfaces: Sequence[LostInterface]
    risk: Risk | None
    record: SymbolRecord | None
    compatible: bool


class _Measured(NamedTuple):
    """Numbers of one changed symbol. `tests`: that reach it, -1 where there are none; `overrides`: of it, and those left alone."""

    tests: int
    locked: bool
    overrides: tuple[int, int]
    commits: int


class Findings:
    """The changed symbols of one review. `index` shows the new side as well as it can, `old` the old one; they may be the same."""

    def __init__(self, index: Index, old: Index, certificate: Certificate, bound: Sequence[Bound], files: Files) -> None:
        self._index, self._old, self._bound, self._files = index, old, bound, files
        self._uncertain = certificate.uncertain({item.new_id for item in bound} - {-1}, DEFINITION)
        of_old = {item.old_id for item in bound if item.new_id < 0} - {-1}
        self._old_uncertain = (certificate if old is index else Certificate(old)).uncertain(of_old, DEFINITION)
        self._folders = folders(index)
        self._sources = {id(index): Sources(index), id(old): Sources(old)}
        self._sites, self._risks = self._used()
        self._lost = lost(old, index, bound, files)
        self._records = self._named()
        self._own_calls = self._calls_of_itself()
        self._packages = self._packages_of_files()

    def make(self, reach: Reach, of_old: Reach, *, with_churn: bool) -> list[ChangedSymbol]:
        """Ranked, the worst first."""
        locked = {index: guarded(index, {number for number in numbers if number >= 0}) for index, numbers in self._numbers().items()}
        overriding = self._overriding()
        any_tests = has_tests(self._index)
        commits = churn(self._index.root, "HEAD", {item.changed.side.outline.path for item in self._bound}) if with_churn else {}
        made: list[ChangedSymbol] = []
        for number, item in enumerate(self._bound):
            found = self._found(number, item)
            measured = _Measured(
                tests=max(reach.counts.get(item.new_id, 0), of_old.counts.get(item.old_id, 0)) if any_tests else -1,
                locked=item.new_id in locked[self._index] or (item.new_id < 0 and item.old_id in locked[self._old]),
                overrides=overriding.get(number, (0, 0)),
                commits=commits.get(item.changed.side.outline.path, 0),
            )
            made.append(self._symbol(found, self._facts(found, measured)))
        return sorted(made, key=_rank)

    # ---- what is asked of the indexes, for all symbols at once

    def _named(self) -> dict[int, dict[int, Symbol]]:
        """By the identity of an index the symbols that are told of: what changed, who uses it, what was lost."""
        wanted: dict[int, set[int]] = {id(self._index): set(), id(self._old): set()}
        for site in (site for sites in self._sites for site in sites):
            wanted[id(site.held_by)].add(site.use.holder)
        for item in (item for items in self._lost.values() for item in items):
            wanted[id(self._old)] |= {item.type_id, item.interface_id, *(site.use.holder for site in item.sites[:_MOST_SITES])}
        for index, numbers in self._numbers().items():
            wanted[id(index)] |= numbers
        sides = {id(index): index for index in (self._index, self._old)}
        return {key: symbols_by_id(index, sorted(wanted[key] - {-1})) for key, index in sides.items()}

    def _packages_of_files(self) -> dict[str, str]:
        """By path of a changed file; as the present index has it, where that does."""
        found: dict[str, str] = {}
        for side in (self._old, self._index):
            held = contents(side, {item.changed.side.outline.path for item in self._bound})
            known = documents(side, {content.doc_id for content in held.values()})
            found |= {path: known[content.doc_id].package for path, content in held.items()}
        return found

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
        old_ids = {item.old_id for item in self._bound if item.new_id < 0 or _has_left(item.changed)} - {-1}
        new_uses = uses_of(self._index, new_ids, dispatch=True)
        old_uses = uses_of(self._old, old_ids, dispatch=True)
        new, old = call_sites(self._index, new_uses, self._files), call_sites(self._old, old_uses, self._files)
        old = led_along(self._moved(), old, self._files)
        by_old: dict[int, list[CallSite]] = {}
        for site in resolved(self._index, [site for found in old.values() for site in found], self._files):
            by_old.setdefault(site.use.sym_id, []).append(site)
        new_risks = risks(self._index, Certificate(self._index), new_ids, new_uses, uncertain=self._uncertain)
        gone = {item.old_id for item in self._bound if item.new_id < 0} - {-1}
        old_risks = risks(
            self._old, Certificate(self._old), gone, [use for use in old_uses if use.sym_id in gone], uncertain=self._old_uncertain
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

    def _moved(self) -> dict[int, Changed]:
        """By number in the old index what is elsewhere now under the name that it had."""
        return {
            item.old_id: item.changed
            for item in self._bound
            if item.old_id >= 0
            and item.changed.what == "moved"
            and item.changed.is_gone
            and item.changed.old
            and item.changed.old[1].name == item.changed.entity.name
        }

    def _overriding(self) -> dict[int, tuple[int, int]]:
        """By position in `bound`: members that override it, and those of them that the change leaves alone."""
        found: dict[int, tuple[int, int]] = {}
        for index, in_old in ((self._index, False), (self._old, True)):
            ids: dict[int, list[int]] = {}
            for number, item in enumerate(self._bound):
                sym_id = item.new_id if not in_old else item.old_id if item.new_id < 0 else -1
                if sym_id >= 0:
                    ids.setdefault(sym_id, []).append(number)
            for overrider in overriders(index, ids):
                left_alone = not self._files.updated(self._files.side_of(index, overrider.path), overrider.path, overrider.line)
                for number in ids[overrider.of]:
                    count, stale = found.get(number, (0, 0))
                    found[number] = (count + 1, stale + left_alone)
        return found

    # ---- one symbol

    def _found(self, number: int, item: Bound) -> _Found:
        changed = item.changed
        language = changed.side.outline.language
        compatible = changed.what == "signature" and _is_compatible(changed)
        breaks_calls = changed.what == "signature" and _breaks(changed, compatible=compatible)
        known = self._records[id(self._index)].get(item.new_id) or self._records[id(self._old)].get(item.old_id)
        sites = self._sites[number]
        return _Found(
            item=item,
            sites=sites,
            uses=[site for site in sites if not site.use.is_test and site.use.relation != "import" and not _is_only_named(site, language)],
            own_calls=self._own_calls.get(item.new_id, ()) if breaks_calls else (),
            interfaces=[self._interface(interface) for interface in self._lost.get(number, ())],
            risk=self._risks[number],
            record=known.record if known else None,
            compatible=compatible,
        )

    def _facts(self, found: _Found, measured: _Measured) -> Facts:
        """What the rules judge by."""
        changed = found.item.changed
        outline, entity = changed.side.outline, changed.entity
        packages = {_package_of(site) for site in found.uses}
        stale_sites, stale_tests = _left_alone(found)
        return Facts(
            what=changed.what,
            kind=kind_label(entity.kind),
            exported=entity.exported and bool(entity.chain) and all(not name.startswith("_") for name in entity.chain),
            is_test=outline.is_test or bool(found.record and found.record.is_test),
            callers=len({(id(site.held_by), site.use.holder) for site in found.uses}),
            packages=len(packages),
            other_packages=len(packages - {self._package(outline.path)}),
            sites=len(found.uses),
            stale_sites=stale_sites,
            stale_tests=stale_tests,
            overrides=measured.overrides[0],
            stale_overrides=measured.overrides[1],
            tests=measured.tests,
            sync_guarded=measured.locked,
            commits=measured.commits,
            covered=self._is_known(found),
            other_folders=self._other_folders(found),
            compatible=found.compatible,
            has_code=entity.kind in _CODE or not entity.chain,
            stays=changed.what == "moved" and not changed.is_gone,
            broken=tuple(_lost_in_words(item) for item in found.interfaces if item.used or item.declared),
            left=tuple(_lost_in_words(item) for item in found.interfaces if not (item.used or item.declared)),
        )

    def _symbol(self, found: _Found, facts: Facts) -> ChangedSymbol:
        """The finding as reports and answers have it, with the verdict on its facts."""
        changed = found.item.changed
        entity, outline, old = changed.entity, changed.side.outline, changed.old
        verdict = judge(facts)
        return ChangedSymbol(
            name=entity.name or outline.module or outline.path,
            qualified_name=_qualified(outline, entity.chain),
            symbol=found.record.symbol if found.record else "",
            kind=facts.kind,
            what=changed.what,
            file=outline.path,
            line=entity.sel_line + 1,
            end_line=entity.spans[0][1],
            risk=found.risk.level if found.risk is not None else "unknown",
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
            sync_guarded=facts.sync_guarded,
            lines=changed.touched,
            likeness=round(changed.likeness, 2),
            callers=facts.callers,
            packages=sorted({_package_of(site) for site in found.uses}),
            stale_sites=facts.stale_sites,
            stale_tests=facts.stale_tests,
            overrides=facts.overrides,
            tests=max(0, facts.tests),
            commits=facts.commits,
            affected=[*found.own_calls, *(self._affected(site) for site in _ordered(found.sites)[:_MOST_SITES])],
            interfaces=list(found.interfaces),
        )

    def _is_known(self, found: _Found) -> bool:
        """Whether an index knows the symbol, and all that may refer to it."""
        item = found.item
        if item.new_id < 0 and item.old_id < 0:
            return False
        uncertain = item.new_id in self._uncertain if item.new_id >= 0 else item.old_id in self._old_uncertain
        return not uncertain and not (found.risk is not None and "unresolved_same_name" in found.risk.reasons)

    def _other_folders(self, found: _Found) -> int:
        """Workspace folders other than the symbol's own that use it."""
        own = folder_of(found.item.changed.side.outline.path, self._folders).prefix
        return len({folder_of(site.path, self._folders).prefix for site in found.uses} - {own})

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
        ids = {item.new_id for item in self._bound if item.changed.what == "signature"} - {-1}
        calls = calls_of_itself(self._index, ids)
        docs = documents(self._index, {call.doc_id for call in calls})
        found: dict[int, list[Affected]] = {}
        for call in calls:
            document = docs[call.doc_id]
            record = self._records[id(self._index)][call.sym_id].record
            side = self._files.side_of(self._index, document.path)
            if not self._files.touches(side, document.path, call.line):
                found.setdefault(call.sym_id, []).append(
                    Affected(
                        path=document.path,
                        line=call.line + 1,
                        caller=record.qualified_name,
                        symbol=record.symbol,
                        package=document.package,
                        relation="call",
                        evidence=Evidence(call.evidence).label,
                        updated=False,
                        side=side,
                        is_test=document.is_test,
                        text=self._sources[id(self._index)].quote(document.path, call.line)["text"],
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
            text=self._sources[id(site.held_by)].quote(site.path, site.use.line)["text"],
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
    return changed.is_gone


def _has_left(changed: Changed) -> bool:
    """Whether it is still there, under another name or in another place."""
    return changed.is_gone and changed.what != "removed"


def _is_broken(site: CallSite, what: What) -> bool:
    """An import does not depend on a declaration, only on what it names being there."""
    return site.is_stale and (what != "signature" or site.use.relation != "import")


def _left_alone(found: _Found) -> tuple[int, int]:
    """Uses that the change breaks and does not touch: outside tests (the symbol's own calls among them), and in tests."""
    changed = found.item.changed
    if not _breaks(changed, compatible=found.compatible):
        return 0, 0
    broken = [site for site in found.sites if _is_broken(site, changed.what)]
    in_tests = sum(site.use.is_test for site in broken)
    return len(broken) - in_tests + len(found.own_calls), in_tests


def _is_only_named(site: CallSite, language: str) -> bool:
    """An annotation of Python says something to a type checker; nothing that runs depends on it."""
    return not record_of(language).is_compiled and site.use.relation == "reference" and bool(site.use.roles & _ANNOTATION)


def _qualified(outline: Outline, chain: tuple[str, ...]) -> str:
    holder = record_of(outline.language).holder(outline.module)
    return ".".join([*([holder] if holder else []), *chain]) or outline.path


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
