"""Cargo's version requirements: which of several versions a dependency means."""

from __future__ import annotations

import re

_PART = re.compile(r"(\^|~|=|>=|<=|>|<)?\s*v?(\d{1,18}|\*)(?:\.(\d{1,18}|[*xX]))?(?:\.(\d{1,18}|[*xX]))?(-[0-9A-Za-z.-]+)?(?:\+\S*)?\Z")
_VERSION = re.compile(r"(\d{1,18})\.(\d{1,18})\.(\d{1,18})(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z")

Numbers = tuple[int, int, int]


def is_version(text: str) -> bool:
    """Whether a text is a whole version, as rust-analyzer wants it."""
    return _VERSION.match(text) is not None


def sort_key(version: str) -> tuple[Numbers, bool, str]:
    """Orders versions; a pre-release comes before its release."""
    match = _VERSION.match(version)
    if match is None:
        return (0, 0, 0), False, version
    return (int(match[1]), int(match[2]), int(match[3])), not match[4], match[4] or ""


def allows(requirement: str, version: str) -> bool:
    """Whether a version satisfies a requirement as a manifest states it; one that cannot be read allows every version."""
    match = _VERSION.match(version)
    if match is None:
        return False
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    parts = [part for part in requirement.split(",") if part.strip()]
    if match[4] and not any("-" in part for part in parts):
        return False
    return all(_allows(part, numbers) for part in parts)


def _allows(part: str, numbers: Numbers) -> bool:
    match = _PART.match(part.strip())
    if match is None or match[2] == "*":
        return True
    sign = match[1] or "^"
    given = [int(match[2])]
    for group in (match[3], match[4]):
        if group is None or not group.isdigit():
            break
        given.append(int(group))
    low = [*given, 0, 0][:3]
    least: Numbers = (low[0], low[1], low[2])
    if sign == ">":
        return numbers[: len(given)] > tuple(given)
    if sign == ">=":
        return numbers >= least
    if sign == "<":
        return numbers < least
    if sign == "<=":
        return numbers[: len(given)] <= tuple(given)
    is_wildcard = any(group is not None and not group.isdigit() for group in (match[3], match[4]))
    if sign == "=" or is_wildcard:
        return numbers[: len(given)] == tuple(given)
    fixed = min(len(given), 2) if sign == "~" else _fixed_by_caret(given)
    return numbers >= least and numbers[:fixed] == tuple(given[:fixed])


def _fixed_by_caret(given: list[int]) -> int:
    """How many leading numbers may not change: up to the first that is not zero."""
    for position, number in enumerate(given):
        if number:
            return position + 1
    return len(given)
