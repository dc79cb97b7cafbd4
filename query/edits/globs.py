"""Globs by which files are left out of an edit: `vendor/**`, `**/*_gen.go`, `*.pb.go`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from indexer.errors import UsageError

_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.DOTALL)


def matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path, relative with `/`, or its last part fits one of the globs. `*` stays in one folder, `**` crosses folders.

    Raises:
        UsageError: a glob that is none.
    """
    patterns = [_compiled(text.removeprefix("./")) for text in globs]
    return lambda path: any(pattern.fullmatch(path) or pattern.fullmatch(path.rpartition("/")[2]) for pattern in patterns)


def _compiled(text: str) -> re.Pattern[str]:
    try:
        return re.compile("".join(_translated(part) for part in _PART.findall(text)), re.DOTALL)
    except re.error as error:
        raise UsageError(f"'{text}' is no glob: {error}") from error


def _translated(part: str) -> str:
    fixed = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in fixed:
        return fixed[part]
    if len(part) > 1:
        inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[{'^' + inner[1:] if inner[0] in '^!' else inner}]"
    return re.escape(part)
