"""The table of risks: from facts about one changed symbol to reasons, and from reasons to a level. Pure.

A level is explained by its reasons, never by a number. What each rule says and why it has its level stands here, in one place; the
documentation of the report is made from it. Nothing that is not fully known is ever `low`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from query.changes.compare import What

Level = Literal["critical", "high", "medium", "unknown", "low", "info"]

LEVELS: tuple[Level, ...] = ("critical", "high", "medium", "unknown", "low", "info")
"""The worst first. `unknown`: nothing bad was found, and something that could tell is missing."""

HOTSPOT_COMMITS = 12
"""Commits among the last 400 that touched the file: above the ninetieth percentile of the repositories that it was tried on."""

MANY_OVERRIDES = 10


class Facts(NamedTuple):
    """What is known of one changed symbol. Callers and sites are outside tests; `stale_sites` are those that the change leaves alone,
    `stale_tests` the like in tests.

    compatible: the declaration differs so that whoever used it as it was still can: types only, a new parameter with a default.
    breaks: the change may break those who use it as it was: gone, another name, place or declaration.
    stays: moved to another file of its package, which those who use it do not see.
    tests: how many tests reach it; -1 where the index holds no tests at all.
    broken, left: interfaces that its type was and is no longer, in words: those that something needs it to be, and the others.
    """

    what: What
    kind: str
    exported: bool
    is_test: bool
    callers: int
    packages: int
    other_packages: int
    sites: int
    stale_sites: int
    stale_tests: int
    overrides: int
    stale_overrides: int
    tests: int
    sync_guarded: bool
    commits: int
    covered: bool
    other_folders: int
    compatible: bool = False
    has_code: bool = True
    broken: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    stays: bool = False

    @property
    def breaks(self) -> bool:
        return self.gone or (self.what == "signature" and not self.compatible)

    @property
    def gone(self) -> bool:
        """Whether it is no longer where its users look for it."""
        return self.what in ("removed", "renamed", "moved") and not self.stays

    @property
    def behaves(self) -> bool:
        """Whether what it does may differ."""
        return self.what in ("removed", "signature", "body")


class Rule(NamedTuple):
    """One row: a code that stays, the level that it gives by itself, when it holds, and the sentence for the reader."""

    code: str
    level: Level
    holds: Callable[[Facts], bool]
    says: Callable[[Facts], str]
    why: str


def _s(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _few(sentences: Sequence[str]) -> str:
    more = f"; and {len(sentences) - _FEW} more" if len(sentences) > _FEW else ""
    return "; ".join(sentences[:_FEW]) + more


_FEW = 3

RULES: tuple[Rule, ...] = (
    Rule(
        "removed_in_use",
        "critical",
        lambda f: f.what == "removed" and f.stale_sites > 0,
        lambda f: f"removed, and {_s(f.stale_sites, 'use')} of it {'is' if f.stale_sites == 1 else 'are'} not touched by this change",
        "What is still used and no longer there fails when it is reached, whatever else is true.",
    ),
    Rule(
        "removed_in_tests",
        "high",
        lambda f: f.what == "removed" and f.stale_tests > 0,
        lambda f: f"removed, and {_s(f.stale_tests, 'use')} in tests {'is' if f.stale_tests == 1 else 'are'} not touched by this change",
        "Tests that cannot be collected say nothing of the rest.",
    ),
    Rule(
        "callers_not_updated",
        "high",
        lambda f: f.breaks and f.what != "removed" and f.stale_sites > 0,
        lambda f: (
            f"its {'declaration' if f.what == 'signature' else 'name or place'} differs, and {_s(f.stale_sites, 'use')} "
            f"{'is' if f.stale_sites == 1 else 'are'} not touched by this change"
        ),
        "A caller that was written for the old declaration may fail.",
    ),
    Rule(
        "interface_broken",
        "high",
        lambda f: bool(f.broken),
        lambda f: _few(f.broken),
        "Whoever takes the type for that interface does not compile, or fails when it is reached.",
    ),
    Rule(
        "interface_left",
        "medium",
        lambda f: bool(f.left),
        lambda f: _few(f.left),
        "Nothing known needs it to be one; reflection, type switches and users elsewhere may.",
    ),
    Rule(
        "tests_not_updated",
        "medium",
        lambda f: f.breaks and f.what != "removed" and f.stale_tests > 0,
        lambda f: f"{_s(f.stale_tests, 'use')} in tests {'is' if f.stale_tests == 1 else 'are'} not touched by this change",
        "They fail, and are to be changed with it.",
    ),
    Rule(
        "overrides_not_updated",
        "high",
        lambda f: f.breaks and f.stale_overrides > 0,
        lambda f: (
            f"{_s(f.stale_overrides, 'member')} that override or implement it {'is' if f.stale_overrides == 1 else 'are'} not touched"
        ),
        "An override that keeps the old declaration is called with the new one, or never again.",
    ),
    Rule(
        "other_folders",
        "high",
        lambda f: f.breaks and f.other_folders > 0,
        lambda f: f"used in {_s(f.other_folders, 'other workspace folder')}",
        "Consumers in other repositories are not part of this change and cannot be.",
    ),
    Rule(
        "public_api_removed",
        "high",
        lambda f: f.gone and f.exported and not f.is_test,
        lambda f: "exported, and no longer there under this name",
        "Users outside the workspace are not in the index; for them it is gone.",
    ),
    Rule(
        "public_api_changed",
        "medium",
        lambda f: f.what == "signature" and f.breaks and f.exported and not f.is_test,
        lambda f: "exported, and its declaration differs",
        "As above.",
    ),
    Rule(
        "compatible",
        "low",
        lambda f: f.what == "signature" and f.compatible,
        lambda f: "its declaration differs so that whoever used it as it was still can",
        "Types only, or a new parameter with a default.",
    ),
    Rule(
        "several_packages",
        "medium",
        lambda f: f.behaves and f.packages > 1,
        lambda f: f"used by {_s(f.callers, 'caller')} in {f.packages} packages",
        "Its users belong to others, who did not ask for the change.",
    ),
    Rule(
        "other_package",
        "medium",
        lambda f: f.behaves and f.packages == 1 and f.other_packages == 1,
        lambda f: f"used by {_s(f.callers, 'caller')} in another package",
        "As above.",
    ),
    Rule(
        "overridden",
        "medium",
        lambda f: f.behaves and f.overrides >= MANY_OVERRIDES,
        lambda f: f"{f.overrides} members override or implement it",
        "What a base does is what all of them build on.",
    ),
    Rule(
        "sync_guarded",
        "medium",
        lambda f: f.behaves and f.sync_guarded,
        lambda f: "a member of a type that holds a lock, a semaphore or an atomic",
        "Mistakes with shared state show late, and not in tests.",
    ),
    Rule(
        "same_package",
        "low",
        lambda f: f.behaves and f.packages == 1 and f.other_packages == 0,
        lambda f: f"used by {_s(f.callers, 'caller')}, all in its own package",
        "Its users are near, and likely to be seen by who changes it.",
    ),
    Rule(
        "no_callers",
        "low",
        lambda f: f.behaves and f.callers == 0,
        lambda f: "nothing outside tests is known to use it",
        "No use that could be affected was found.",
    ),
    Rule("added", "low", lambda f: f.what == "added", lambda f: "new", "Nothing depends on it yet but what is new with it."),
    Rule(
        "docs_only",
        "info",
        lambda f: f.what == "docs",
        lambda f: "only comments, documentation or layout differ",
        "No behaviour differs.",
    ),
    Rule(
        "moved_in_package",
        "info",
        lambda f: f.stays,
        lambda f: "the same code in another file of its package, which its users do not see",
        "No behaviour differs.",
    ),
    Rule(
        "moved", "low", lambda f: f.gone and f.what != "removed", lambda f: "much the same code under another name or in another place", ""
    ),
)
"""What makes a change dangerous, the worst first."""

RAISING: tuple[Rule, ...] = (
    Rule(
        "no_test_reaches",
        "info",
        lambda f: f.behaves and f.tests == 0 and not f.is_test and f.has_code and (f.callers > 0 or f.exported),
        lambda f: "no test is known to reach it",
        "What breaks here is found by users.",
    ),
    Rule(
        "hotspot",
        "info",
        lambda f: f.behaves and f.commits >= HOTSPOT_COMMITS and not f.is_test and f.callers > 0,
        lambda f: f"its file was changed by {f.commits} of the last 400 commits",
        "Files that are changed often are those that are fixed often.",
    ),
)
"""Each raises the level by one step, up to high: bad company, no harm by themselves."""

_RAISED: dict[Level, Level] = {
    "info": "low",
    "low": "medium",
    "unknown": "medium",
    "medium": "high",
    "high": "high",
    "critical": "critical",
}


_IN_TESTS = ("removed_in_use", "callers_not_updated", "removed_in_tests", "tests_not_updated")
"""What of a test's own code is worth a reviewer's time: tests that others build on."""


class Verdict(NamedTuple):
    """A level and the reasons for it, the strongest first: (code, sentence)."""

    level: Level
    reasons: list[tuple[str, str]]


def judge(facts: Facts) -> Verdict:
    """The level of one changed symbol. Code of tests harms nobody who uses the product: `info`."""
    found = [rule for rule in RULES if rule.holds(facts)]
    level = worst([rule.level for rule in found] or ["low"])
    reasons = [(rule.code, rule.says(facts)) for rule in found]
    if facts.is_test:
        kept = [reason for reason in reasons if reason[0] in _IN_TESTS]
        return Verdict("medium" if kept else "info", kept or [("test_code", "code of tests")])
    for rule in RAISING:
        if rule.holds(facts) and level != "info":
            level = _RAISED[level]
            reasons.append((rule.code, rule.says(facts)))
    if not facts.covered and level in ("low", "info") and not facts.stays and facts.what not in ("docs", "added"):
        level = "unknown"
        reasons.append(("coverage_partial", "not all that may use it is known, so there may be uses that are not listed"))
    return Verdict(level, reasons)


def at_least(level: Level, limit: Level) -> bool:
    """Whether a level is as bad as a limit or worse."""
    return LEVELS.index(level) <= LEVELS.index(limit)


def worst(levels: Iterable[Level]) -> Level:
    """The worst of several; `info` of none."""
    present = set(levels)
    for level in LEVELS:
        if level in present:
            return level
    return "info"
