"""The language of a file by its name and, where that says nothing, by its first line: a script is told by the program that runs it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from indexer.servers.registry import known_files, language_of

SHEBANG_BYTES = 256
"""How much of a file's beginning says which program runs it: Linux reads so much."""

_SHEBANG = re.compile(rb"#![ \t]*(\S+)((?:[ \t]+\S+)*)")
_ENV_ASSIGNMENT = re.compile(r"\w+=")


def may_be_script(path: str) -> bool:
    """Whether only the first line of a file can say what language it is in: its name has no extension and is none of a language's own."""
    name = path[path.rfind("/") + 1 :]
    return "." not in name and bool(name) and name not in known_files().filenames


def language_of_script(head: bytes) -> str:
    """The language of a file without an extension by the program that its first line names, or an empty string.

    Args:
        head: its beginning, SHEBANG_BYTES of it.
    """
    match = _SHEBANG.match(head[:SHEBANG_BYTES])
    if match is None:
        return ""
    program, *arguments = match[0][2:].decode("utf-8", "replace").split()
    program = program.rpartition("/")[2]
    if program == "env":
        program = next((word for word in arguments if not word.startswith("-") and not _ENV_ASSIGNMENT.match(word)), "").rpartition("/")[2]
    interpreters = known_files().interpreters
    return interpreters.get(program, "") or interpreters.get(program.rstrip("0123456789.-"), "")


def language_of_file(root: Path, path: str, present: frozenset[str] = frozenset()) -> str:
    """As `language_of`; of a file below `root` whose name says nothing, by its first line."""
    if not may_be_script(path):
        return language_of(path, present)
    try:
        descriptor = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # waits for no pipe
    except (OSError, ValueError):
        return ""
    try:
        return language_of_script(os.read(descriptor, SHEBANG_BYTES)) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""
    except OSError:
        return ""
    finally:
        os.close(descriptor)
