"""Code that lies in a file of another kind: the text that servers are told and that people are shown, at the positions of the file.

Lines and columns of that text are those of the file, so an edit of the text is one of the file, where `is_kept` allows the new text.
"""

from __future__ import annotations

import os

from indexer.encoding import as_utf8

NOTEBOOK = "notebook"
COMPONENT = "component"

_NOTEBOOKS = ".ipynb"
_COMPONENTS = (".vue", ".svelte", ".astro")
_ENDING = ".ts"
_ALIASES = tuple(extension + _ENDING for extension in _COMPONENTS)


def form_of(path: str) -> str:
    """What kind of file with code in it a path is of; empty for a plain source."""
    lower = path.lower()
    return NOTEBOOK if lower.endswith(_NOTEBOOKS) else COMPONENT if lower.endswith(_COMPONENTS) else ""


def source_of(path: str, content: bytes) -> bytes | None:
    """The source that a file holds, as UTF-8: all of a plain one; None where its code cannot be told."""
    text, form = as_utf8(content), form_of(path)
    if not form:
        return text
    written = text.decode("utf-8")
    if form == NOTEBOOK:
        from indexer import notebook  # here and below: parsers of markup take 20 ms to load, and few questions meet such a file

        code = notebook.code_of(written)
    else:
        from indexer import component

        code = component.scripts_of(path, written)
    return None if code is None else code.encode()


def shown_of(path: str, content: bytes) -> bytes | None:
    """What people are shown at the places of the source: of a component its own text, in whose markup they would not know our code."""
    source = source_of(path, content)
    return source if source is None or form_of(path) != COMPONENT else as_utf8(content)


def rest_of(path: str, content: bytes) -> bytes:
    """What a file has beside its source and may name symbols all the same: words of a component's markup that are not read as code."""
    if form_of(path) != COMPONENT:
        return b""
    from indexer import component

    return component.markup_of(path, as_utf8(content).decode("utf-8")).encode()


def searched_of(path: str, content: bytes) -> bytes:
    """The text of a file without a source in which its words are looked for."""
    return rest_of(path, content) if form_of(path) == COMPONENT else content


def alias(path: str) -> str:
    """The path under which a server is told the source, from whose end it knows the language; the file's own for others."""
    return path + _ENDING if form_of(path) == COMPONENT else path


def without_alias(path: str) -> str:
    """The file of which a server speaks by this path. A file that really has such a name keeps it."""
    return path.removesuffix(_ENDING) if path.lower().endswith(_ALIASES) and not os.path.lexists(path) else path


def is_kept(path: str, new_text: str, lines: int) -> bool:
    """Whether new text may be written into the file in the place of other text as it is.

    Args:
        lines: how many lines the other text goes on for. A notebook holds each line of its code as a string of JSON.
    """
    if form_of(path) != NOTEBOOK:
        return True
    from indexer import notebook

    return lines == 0 and notebook.is_kept(new_text)
