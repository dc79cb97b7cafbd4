"""A change of a hostile repository, made by hand, for the tests of the formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from query.answers.envelope import Completeness, Provenance, Reason
from query.changes.model import LostInterface
from query.changes.review import Affected, AffectedTest, ChangedFile, ChangedSymbol, Review, Totals
from query.changes.rules import LEVELS, worst
from query.reports.baseline import Accepted
from query.reports.model import Report, report

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "a`b``c|d\\|e",
    "@everyone",
    "[x](javascript:alert(1))",
    "</script><script>alert(2)</script>",
    "::error file=x::boo",
    "%0A::error::boo",
    "\x1b[31mred\x07",
    "--> ]]> {{data}} ${{ secrets.TOKEN }}",
    "line\nbreak # heading",
    'quote"end"; click n0 call alert()',
    "#1 GH-2 https://evil.example www.evil.example :smile:",
    "**bold** __init__ ~~gone~~",
    "\u202egnp.exe",
    "'; touch owned; '",
)


def symbol(number: int, name: str, **more: Any) -> ChangedSymbol:
    """A changed function; the file and the caller are called like it."""
    values: dict[str, Any] = {
        "name": name,
        "qualified_name": f"pkg.{name}",
        "symbol": f"python pip pkg . pkg/{number}().",
        "kind": "function",
        "what": "signature",
        "file": f"src/{name}.py",
        "line": 10 + number,
        "end_line": 14 + number,
        "risk": "high",
        "level": "high",
        "reasons": ["callers_not_updated", "several_packages"],
        "says": ["its declaration differs, and 2 uses are not touched by this change", "used by 2 callers in 2 packages"],
        "language": "python",
        "signature": f"def {name}(a, b)",
        "old_signature": f"def {name}(a)",
        "lines": (2, 3 + number),
        "callers": 2,
        "packages": ["pkg", name],
        "stale_sites": 2,
        "tests": 1,
        "affected": [
            Affected(
                path=f"src/{name}/caller.py", line=number + place, caller=f"pkg.{name}.caller{place}", symbol=f"caller {number} {place}",
                package=name, relation="call", evidence="definition", updated=False, side="new", text=f"{name}(1)  # {name}",
            )
            for place in (1, 2)
        ],
    }  # fmt: skip
    return ChangedSymbol(**{**values, **more})


def lost(name: str, *, external: bool = False) -> LostInterface:
    """An interface that something called like it needs."""
    site = Affected(
        path=f"src/{name}/use.py", line=3, caller=f"pkg.{name}.use", symbol=f"use {name}", package=name, relation="call",
        evidence="definition", updated=False, side="new", text=name,
    )  # fmt: skip
    return LostInterface(
        name=f"pkg.{name}", symbol=f"interface {name}", path=f"src/{name}.py", line=0 if external else 7, type=f"pkg.T{name}",
        how="missing", used=1, external=external, sites=[site, msgspec.structs.replace(site, line=4, updated=True)],
    )  # fmt: skip


def made_review(symbols: list[ChangedSymbol], tests: list[AffectedTest] | None = None, reasons: list[Reason] | None = None) -> Review:
    by_level = {level: sum(item.level == level for item in symbols) for level in LEVELS}
    tests = tests or []
    return Review(
        compared="main...<b>HEAD</b>|`x`",
        old="1" * 40,
        new="2" * 40,
        level=worst(item.level for item in symbols),
        files=[ChangedFile(path=item.file, status="modified", added=1, removed=1) for item in symbols],
        symbols=symbols,
        tests=tests,
        totals=Totals(
            files=len(symbols), symbols=len(symbols), by_what={}, by_level=by_level, non_test_callers=2 * len(symbols),
            stale_sites=sum(item.stale_sites for item in symbols), tests=len(tests), likely_tests=len(tests),
            lines_added=5, lines_removed=3,
        ),
        completeness=Completeness(status="partial" if reasons else "complete", reasons=reasons or []),
        provenance=Provenance(source="index", servers=["ty 1"], commit="3" * 40, dirty=False, indexed_at="2026-01-01", generation=1),
        base="index",
    )  # fmt: skip


def hostile_review() -> Review:
    """Every hostile name as symbol, file, caller, source line, test and reason."""
    levels = ("critical", "high", "medium", "unknown", "low")
    symbols = [symbol(number, name, level=levels[number // 3]) for number, name in enumerate(HOSTILE)]
    symbols.append(symbol(99, "gone", what="removed", level="low", reasons=["same_package"], says=["used by 1 caller"], stale_sites=0))
    symbols[-1].interfaces = [lost(name) for name in HOSTILE]
    symbols.append(symbol(98, "docs", what="docs", level="info", reasons=["docs_only"], says=["only comments differ"], stale_sites=0))
    tests = [
        AffectedTest(
            selector=f"tests/{name}.py::test_x", path=f"tests/{name}.py", line=3, name="test_x", distance=1, via=name, runner="pytest"
        )
        for name in HOSTILE
    ]
    return made_review(symbols, tests, [Reason(code="stale", detail=f"1 file: {HOSTILE[0]}", count=2, paths=[HOSTILE[4], HOSTILE[9]])])


def hostile_report(root: Path, accepted: list[Accepted] | None = None) -> Report:
    return report(hostile_review(), root, accepted or [])
