"""The table of toolchains: which command builds a language's projects, which runs their tests, and how its output is read."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

TABLE = Path(__file__).with_name("toolchains.toml")

Kind = Literal["build", "test"]
Select = Literal["", "pytest", "go", "cargo", "maven", "gradle", "phpunit", "path"]


class Toolchain(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry; its fields are explained at the top of the table. One of `program` and `module` is set."""

    name: str
    kind: Kind
    languages: list[str]
    steps: list[list[str]]
    reads: Literal["go", "cargo", "tsc", "gcc", "pyright", "lines", "maven", "any", "jest", "junit", "surefire", "summary"]
    columns: Literal["bytes", "utf16", "characters"]
    missing: str
    tried: str
    asked: list[str] = []
    script: str = ""
    program: list[str] = []
    module: str = ""
    version: list[str] = []
    scope: Literal["none", "path", "filter", "package"] = "none"
    whole: str = ""
    select: Select = ""
    reports: list[str] = []
    environment: dict[str, str] = {}
    exit_codes: dict[str, str] = {}

    def __post_init__(self) -> None:
        if bool(self.program) == bool(self.module):
            raise ValueError(f"'{self.name}' needs either a program or a module")


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    toolchain: list[Toolchain]


@cache
def load_toolchains() -> list[Toolchain]:
    """All entries, in the order of preference."""
    return msgspec.toml.decode(TABLE.read_bytes(), type=_File).toolchain


def languages(kind: Kind) -> list[str]:
    """Languages that have an entry of this kind."""
    return sorted({language for entry in load_toolchains() if entry.kind == kind for language in entry.languages})


def tried_text(kind: Kind) -> str:
    """Which tools of the table our own tests run, and which nobody has tried, for the reference."""
    entries = [entry for entry in load_toolchains() if entry.kind == kind]
    run = dict.fromkeys(f"{entry.name} {entry.tried}" for entry in entries if entry.tried[0].isdigit())
    recorded = dict.fromkeys(entry.name for entry in entries if entry.tried.startswith("recorded"))
    untested = dict.fromkeys(entry.name for entry in entries if entry.tried == "untested")
    parts = [("tested", run), ("tested on recorded reports", recorded), ("untested", untested)]
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)
