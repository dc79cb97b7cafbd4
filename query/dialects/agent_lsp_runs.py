"""Dialect `agent-lsp`: builds and test runs, in the shapes of that surface; places of failures as the protocol has them (0-based)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.lsp.uri import path_to_uri
from query.answers.envelope import Answer
from query.dialects.lsp_shapes import absolute
from query.dialects.surface import Desk, DialectReply

Ask = Any


def _asked(ask: Ask) -> dict[str, Any]:
    return {"workspace_dir": ask.workspace_dir, "path": ask.path, "language": ask.language}


def _build(desk: Desk, ask: Ask) -> DialectReply:
    def form(of: Answer[Any]) -> dict[str, Any]:
        errors = [
            {"file": absolute(desk.root, item.path) if item.path else "", "line": item.line, "column": item.col, "message": item.message}
            for item in of.result.errors
        ]
        return {"success": of.result.success, "errors": errors, "raw": of.result.raw}

    return desk.value(desk.ask("run_build", **_asked(ask)), form)


def _tests(desk: Desk, ask: Ask) -> DialectReply:
    def failure(item: Any) -> dict[str, Any]:
        shape = {
            "file": absolute(desk.root, item.path) if item.path else "",
            "line": item.line,
            "test_name": item.test_name,
            "message": item.message,
        }
        if not item.path or not item.line:
            return shape
        at = {"line": item.line - 1, "character": max(item.col - 1, 0)}
        return {**shape, "location": {"uri": path_to_uri(absolute(desk.root, item.path)), "range": {"start": at, "end": at}}}

    answer = desk.ask("run_tests", **_asked(ask))
    return desk.value(
        answer, lambda of: {"passed": of.result.passed, "failures": [failure(item) for item in of.result.failures], "raw": of.result.raw}
    )


RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {"run_build": _build, "run_tests": _tests}
