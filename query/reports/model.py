"""The report that every format is made of: a review's symbols as findings, ranked, with fingerprints that outlive a shifted line."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from query.answers.envelope import Completeness, Provenance
from query.changes.review import AffectedTest, ChangedFile, ChangedSymbol, Review, Totals
from query.changes.rules import LEVELS, RAISING, RULES, Level, at_least, worst
from query.reports.baseline import Accepted
from query.reports.commands import Command, commands

VERSION = 1
READ_FIRST = 3

_TABLE_LEVELS: Mapping[str, Level] = {"coverage_partial": "unknown", **{rule.code: rule.level for rule in (*RULES, *RAISING)}}


class Finding(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A changed symbol above `info`. `rank` from 1; `read_first`: one of those that a reviewer should read; `accepted`: why it may stay."""

    rank: int
    fingerprint: Annotated[str, msgspec.Meta(description="of symbol and rule, not of lines: the same when the file is edited elsewhere")]
    rule: Annotated[str, msgspec.Meta(description="code of the rule that weighs most")]
    level: Level
    symbol: ChangedSymbol
    read_first: bool = False
    accepted: str = ""

    @property
    def message(self) -> str:
        """One sentence, without names: those are escaped by each format."""
        return "; ".join(self.symbol.says)


class Report(msgspec.Struct, kw_only=True):
    """Everything that a format may show. `level` is the worst of what is not accepted; `below` are symbols at level `info`, in short."""

    version: int
    compared: str
    old: str
    new: str
    base: str
    level: Level
    findings: list[Finding]
    totals: Totals
    tests: list[AffectedTest]
    commands: Annotated[list[Command], msgspec.Meta(description="command lines that run the tests, from the workspace root")]
    files: list[ChangedFile]
    below: list[ChangedSymbol]
    stale_baseline: Annotated[list[Accepted], msgspec.Meta(description="entries of the baseline that fit no finding any more")]
    unexplained: Annotated[int, msgspec.Meta(description="findings that the baseline lists without a reason, so they are not accepted")]
    completeness: Completeness
    provenance: Provenance

    @property
    def accepted(self) -> int:
        return sum(bool(item.accepted) for item in self.findings)

    @property
    def counts(self) -> dict[Level, int]:
        """Findings by level, those of no level left out; accepted ones are not counted."""
        found: dict[Level, int] = {}
        for level in LEVELS:
            number = sum(item.level == level and not item.accepted for item in self.findings)
            if number:
                found[level] = number
        return found

    def reaches(self, limit: Level) -> int:
        """How many findings that are not accepted are as bad as `limit` or worse."""
        return sum(at_least(item.level, limit) for item in self.findings if not item.accepted)


def report(review: Review, root: Path, accepted: Sequence[Accepted] = ()) -> Report:
    """The report on a review.

    Args:
        root: of the workspace, to see which module or crate a test belongs to.
        accepted: the entries of a baseline.
    """
    reasons = {entry.fingerprint: entry.reason.strip() for entry in accepted}
    findings: list[Finding] = []
    below: list[ChangedSymbol] = []
    for symbol in review.symbols:
        if symbol.level == "info":
            below.append(msgspec.structs.replace(symbol, affected=[]))
            continue
        rule = weightiest(symbol)
        print_ = fingerprint(symbol, rule)
        findings.append(
            Finding(
                rank=len(findings) + 1,
                fingerprint=print_,
                rule=rule,
                level=symbol.level,
                symbol=symbol,
                accepted=reasons.get(print_, ""),
            )
        )
    first = [item for item in findings if not item.accepted][:READ_FIRST]
    findings = [msgspec.structs.replace(item, read_first=item in first) for item in findings]
    present = {item.fingerprint for item in findings}
    return Report(
        version=VERSION,
        compared=review.compared,
        old=review.old,
        new=review.new,
        base=review.base,
        level=worst(item.level for item in findings if not item.accepted),
        findings=findings,
        totals=review.totals,
        tests=review.tests,
        commands=commands(review.tests, root),
        files=review.files,
        below=below,
        stale_baseline=[entry for entry in accepted if entry.fingerprint not in present],
        unexplained=sum(item.fingerprint in reasons and not item.accepted for item in findings),
        completeness=review.completeness,
        provenance=review.provenance,
    )


def weightiest(symbol: ChangedSymbol) -> str:
    """The code of the reason whose rule has the worst level; the first of equals, as the table has them in its own order."""
    return min(symbol.reasons, key=lambda code: LEVELS.index(_TABLE_LEVELS.get(code, "info")), default=symbol.what)


def fingerprint(symbol: ChangedSymbol, rule: str) -> str:
    """Names a finding by what it is about: it stays when lines shift, and changes when another rule weighs most."""
    told = "\0".join((f"v{VERSION}", rule, symbol.file, symbol.kind, symbol.qualified_name))
    return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def stale_sites(symbol: ChangedSymbol) -> list[int]:
    """Positions in `affected` of the uses that were written for the old state and that the change leaves alone."""
    stale = {id(site) for site in symbol.stale()}
    return [number for number, site in enumerate(symbol.affected) if id(site) in stale]


def is_on_new_side(symbol: ChangedSymbol) -> bool:
    """Whether its line is one of the new side's file."""
    return symbol.what != "removed"
