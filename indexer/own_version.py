"""The version of lspidx, without what reads the descriptions of all packages: that takes 30 ms to load, and a greeting has to tell it."""

from __future__ import annotations

import functools
import os
import re
import sys

_FOLDER = re.compile(r"lspidx-([0-9][\w.!+]*)\.dist-info")


@functools.cache
def own_version() -> str:
    """As the installed distribution says it, whose folder is named by it."""
    for place in filter(None, sys.path):
        try:
            names = os.listdir(place)
        except OSError:
            continue
        for name in names:
            if found := _FOLDER.fullmatch(name):
                return found[1]
    from importlib.metadata import version

    return version("lspidx")
