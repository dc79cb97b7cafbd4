"""What is read beside the files that a language's extension names, and what an answer says of files that are not read."""

from __future__ import annotations

from pathlib import Path

from query_support import generation
from support import crawl_with_ty, rows, write_tree

from query.facts import index as indexes
from query.facts.freshness import drift

LIB = "def helper(x):\n    return x\n\n\ndef window():\n    return 1\n"


def test_scripts_without_an_extension_and_pyw_are_read_as_python(tmp_path: Path) -> None:
    """Calls in them are calls like others."""
    files = {
        "lib.py": LIB,
        "tool": "#!/usr/bin/env python3\nfrom lib import helper\n\nhelper(1)\n",
        "app.pyw": "from lib import window\n\nwindow()\n",
        "NOTES": "helper is called by nobody\n",
    }
    crawl_with_ty(write_tree(tmp_path, files))
    calls = rows(generation(tmp_path), "SELECT split_part(callee, ' ', -1), path FROM calls ORDER BY 2")
    assert calls == [("lib/window().", "app.pyw"), ("lib/helper().", "tool")]


def test_a_new_script_makes_an_index_old(tmp_path: Path) -> None:
    """By its first line, where the index has files of that language; a text without an extension does not."""
    crawl_with_ty(write_tree(tmp_path, {"lib.py": LIB}))
    write_tree(tmp_path, {"tool": "#!/usr/bin/env python3\n", "NOTES": "text\n", "run": "#!/bin/sh\n"})
    with indexes.open_index(tmp_path) as index:
        assert drift(index).new == ["tool"]
