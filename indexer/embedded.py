"""Code that lies in a file of another kind: the text that servers are told and that people are shown, at the positions of the file.

Lines and columns of that text are those of the file, so an edit of the text is one of the file, where `is_kept` allows the new text.
"""

from __future__ import annotations

from indexer import notebook
from indexer.encoding import as_utf8

NOTEBOOK = "notebook"


def form_of(path: str) -> str:
    """What kind of file with code in it a path is of; empty for a plain source."""
    return NOTEBOOK if path.lower().endswith(notebook.EXTENSION) else ""


def source_of(path: str, content: bytes) -> bytes | None:
    """The source that a file holds, as UTF-8: all of a plain one; None where its code cannot be told."""
    text = as_utf8(content)
    if not form_of(path):
        return text
    code = notebook.code_of(text.decode("utf-8"))
    return None if code is None else code.encode()


def is_kept(path: str, new_text: str) -> bool:
    """Whether new text may be written into the file as it is, where it holds code."""
    return form_of(path) != NOTEBOOK or notebook.is_kept(new_text)
