"""Placeholders in the server table, `{name}`, and what stands for them in one workspace. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

PLACEHOLDERS = frozenset({
    "all_roots", "cache", "cargo_manifests", "compile_commands", "fetched", "memory", "no_python", "python", "python_environment",
    "python_prefix", "root", "rust_sources", "rust_toolchain", "scratch", "search_paths", "server", "source_roots", "threads",
    "user_cache",
})  # fmt: skip
"""What may stand between braces in the table; `servers.toml` says what each is."""

_FILLED = re.compile(r"(-[\w-]+=)?\{(\w+)\}(/.*)?")


def fill(template: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `template` in which `"{key}"` is replaced by `values[key]`; around it may stand `-switch=` and `/rest`.

    A key whose placeholder has no value is left out, and so is a table that loses all its keys.
    """
    filled: dict[str, Any] = {}
    for key, value in template.items():
        if isinstance(value, Mapping):
            inner = fill(value, values)  # pyright: ignore[reportUnknownArgumentType]
            if inner or not value:
                filled[key] = inner
        else:
            replacement = _filled(value, values)
            if replacement is not None or value is None:  # a null that stands there is meant
                filled[key] = replacement
    return filled


def fill_words(words: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """The words of a command; a word whose placeholder has no value is left out."""
    return [str(word) for word in (_filled(word, values) for word in words) if word is not None]


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    match = _FILLED.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    switch, name, rest = match.groups("")
    replacement = values.get(name)
    return replacement if replacement is None or not (switch or rest) else f"{switch}{replacement}{rest}"
