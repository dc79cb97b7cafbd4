"""What a crawl tells the server of Java: which files to compile, and what else there is to compile them against."""

from __future__ import annotations

import msgspec

FILE = "java.json"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """files: relative to the workspace's root. class_path: archives, absolute."""

    files: list[str]
    class_path: list[str] = []
