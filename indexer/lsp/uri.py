"""File URIs and paths. Servers write one path in several ways (`%40` or `@`), so paths are compared, not URIs."""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit


def path_to_uri(path: str) -> str:
    return "file://" + quote(os.fsencode(path))  # a name need not be UTF-8


def uri_to_path(uri: str) -> str:
    """Path of a file URI; other schemes, and what is no URI at all, are returned as they are."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    return unquote(parts.path) if parts.scheme == "file" else uri
