"""What a build or a test run comes to."""

from __future__ import annotations

from typing import Literal

import msgspec

Severity = Literal["error", "warning"]


class Problem(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a compiler or checker complains of. Lines and columns are 1-based, columns in UTF-16 code units; 0 where it did not say.

    `path` is empty where the problem is of no file, and absolute where the file lies outside the workspace.
    """

    severity: Severity
    message: str
    path: str = ""
    line: int = 0
    col: int = 0
    code: str = ""


class Failure(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A test that did not pass, and where: the line that failed, else the line of the test, else 0."""

    test_name: str
    message: str
    path: str = ""
    line: int = 0
    col: int = 0


class Counts(msgspec.Struct, kw_only=True):
    """Tests by outcome. `failed` has those that could not be run for an error of their own."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def ran(self) -> int:
        return self.passed + self.failed


class Results(msgspec.Struct, kw_only=True):
    """What could be read from a tool's output. `counts` is None where it could not be told how many tests ran.

    unread: why something could not be understood; empty where all was.
    """

    problems: list[Problem] = []
    failures: list[Failure] = []
    counts: Counts | None = None
    unread: str = ""


class Used(msgspec.Struct, kw_only=True):
    """The toolchain that was run. why: what speaks for it; tried: the version that our tests run, or that they run none.

    folder: where it was started, relative to the workspace. commands: as they were started, each without a shell.
    """

    name: str
    version: str
    language: str
    why: str
    folder: str
    commands: list[list[str]]
    tried: str


class Note(msgspec.Struct, kw_only=True):
    """Why an answer may lack something; a Reason of the answer."""

    code: str
    detail: str


class Run(msgspec.Struct, kw_only=True):
    """A finished run. exit_code: of the last command; None where it was ended or could not be started. log_file: all of the output."""

    used: Used
    exit_code: int | None
    elapsed_ms: int
    results: Results
    raw: str
    log_file: str
    notes: list[Note]
