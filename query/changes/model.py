"""The records that a change is described with; every report is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from indexer.languages.record import Runner
from query.answers.envelope import Completeness, Provenance
from query.changes.compare import What
from query.changes.interfaces import How
from query.changes.rules import Level
from query.facts.risk import Level as Ladder


class Affected(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A place that uses what was changed. Lines 1-based, on the side that is named; `updated`: this change touches what is around it.

    `resolves`: it stays as it was and means something else by now (an inherited member, a name imported from elsewhere).
    """

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
    resolves: bool = False
    text: str = ""


class AffectedTest(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A test that reaches the change. `selector`: as its runner takes it on the command line. `via`: the nearest changed symbol.

    `distance`: 0 where it is changed itself, 1 where it names the change, else how many steps away. `score`: how likely it is to notice
    the change, 1 at most for one way that leads nowhere else; what is used by many counts less at each step. `cases`: its runner runs it
    as several, whose names begin with the selector. `likely`: one of those to run where not all are, see `selection`.
    """

    selector: str
    path: str
    line: int
    name: str
    distance: int
    via: str
    runner: Runner
    import_only: bool = False
    cases: bool = False
    likely: bool = False
    score: float = 0.0


class LostInterface(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An interface (trait, protocol, abstract class) that a type was and is no longer, by a member that it lacks or has otherwise.

    `type`: the type, or one that has the member from it. `path` and `line` are the interface's on the old side: a key without a line
    where it is not of the workspace. `used`: places outside tests that call through it, or use the type as one; of all places, those in
    tests too, the first are in `sites`.
    """

    name: str
    symbol: str
    path: str
    line: int
    type: str
    how: How
    used: int
    external: bool = False
    declared: bool = False
    sites: list[Affected] = []


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
    stale_tests: int = 0
    overrides: int = 0
    tests: int = 0
    commits: int = 0
    affected: list[Affected] = []
    interfaces: list[LostInterface] = []

    def stale(self) -> Iterator[Affected]:
        """Of the uses that are listed: those written for it as it was, which this change leaves alone."""
        for site in self.affected if self.stale_sites + self.stale_tests else ():
            if not (site.updated or site.resolves or site.dispatch or (self.what == "signature" and site.relation == "import")):
                yield site


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
    """Exact, whatever is listed. `likely_tests`: of `tests` those that stand first, to be run where not all are."""

    files: int
    symbols: int
    by_what: dict[str, int]
    by_level: dict[str, int]
    non_test_callers: int
    stale_sites: int
    tests: int
    likely_tests: int
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
