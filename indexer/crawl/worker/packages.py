"""What the probe of a Python server names, beside the builtins."""

from __future__ import annotations

import re

_PACKAGES = """
_typeshed asyncio collections compression compression._common compression.zstd concurrent concurrent.futures concurrent.interpreters
ctypes ctypes.macholib curses dbm distutils distutils.command email email.mime encodings ensurepip html http importlib
importlib.metadata importlib.resources json lib2to3 lib2to3.fixes lib2to3.pgen2 logging math msilib multiprocessing
multiprocessing.dummy os pathlib profiling profiling.sampling pydoc_data pyexpat sqlite3 string sys tkinter unittest urllib venv wsgiref
xml xml.dom xml.etree xml.parsers xml.parsers.expat xml.sax xmlrpc zipfile zipfile._path zoneinfo
"""
STANDARD_PACKAGES = _PACKAGES.split()
"""Packages of Python's standard library.

ty unpacks the file of a package when it is asked about that, and we look there whether a folder is one: what is known must not depend on
what somebody has asked earlier on this machine.
"""

_IN_TYPESHED = re.compile(r"/typeshed/(?:[0-9a-f]{40}/)?stdlib/([\w/]+)\Z")
_KNOWN = frozenset(STANDARD_PACKAGES)


def is_standard_package(folder: str) -> bool:
    """Whether a folder of typeshed is one of these, unpacked or not."""
    match = _IN_TYPESHED.search(folder)
    return match is not None and match[1].replace("/", ".") in _KNOWN
