"""Rows as they are recorded, and which assignment alone reaches a place."""

from __future__ import annotations

from typing import Any

from indexer.model import Flow
from indexer.syntax.model import Flows
from indexer.syntax.python.nodes import (
    K_IDENTIFIER,
)
from indexer.syntax.python.record import Recorder
from indexer.syntax.python.scopes import BY_IMPORT, Binding

_MAX_VERSIONS = 50
"""A name that is bound more often is one value."""


class Rows:
    """The rows so far, and what alone binds a name where the text is read."""

    def __init__(self, walk: Recorder) -> None:
        self._walk = walk
        self._rows = Flows()
        self._tokens = walk.tokens
        self._env: dict[Binding, int] = {}  # the row that alone binds it here
        self._bodies: list[tuple[int, Any, dict[Binding, int]]] = []  # definition's row, block, parameters
        self._narrowed: dict[int, int] = {}  # by row that narrows a name: the row that bound it before, -1 for none alone
        self._depth = 0
        self._versioned: dict[Binding, bool] = {}
        self._beginnings: dict[Binding, str] = {}  # of names that are made at run time, by the variable that was set to one last
        self._global: set[str] = {name for scope in walk.scopes for name in scope.declared}

    # ---- rows

    def _row(self, kind: Flow, parent: int, part: int, node: Any, key: str = "", of: int = -1) -> int:
        """`node`: an identifier, where the row stands, or any other node of which the start counts; None for nowhere."""
        rows = self._rows
        index = len(rows.kind)
        line, col = rows.line[-1] if rows.line else 0, 0
        if node is not None:
            token = self._walk.node_token.get(node.start_byte, -1)
            if token >= 0 and node.kind_id == K_IDENTIFIER:
                line, col = self._tokens.line[token], self._tokens.col[token]
            else:
                line, col = node.start_point
                col = col if self._walk.columns.is_identity else self._walk.columns.utf16(line, col)
        rows.kind.append(int(kind))
        rows.into.append(index - parent if parent >= 0 else 0)
        rows.part.append(part)
        rows.of.append(index - of if of >= 0 else 0)
        rows.line.append(line)
        rows.col.append(col)
        rows.key.append(key)
        return index

    def _cut(self, node: Any) -> None:
        self._row(Flow.CUT, -1, 0, node)

    # ---- names and what alone binds them

    def _binding(self, node: Any) -> Binding | None:
        return self._walk.use_binding.get(self._walk.node_token.get(node.start_byte, -1))

    def _has_versions(self, binding: Binding, name: str) -> bool:
        known = self._versioned.get(binding)
        if known is None:
            known = self._versioned[binding] = (
                1 < len(binding.tokens) <= _MAX_VERSIONS and BY_IMPORT not in binding.kinds and name not in self._global
            )
        return known

    def _bound(self, node: Any, row: int) -> None:
        binding = self._binding(node)
        if binding is not None and self._has_versions(binding, node.text.decode("utf-8", "replace")):
            self._env[binding] = row

    def _forget(self, node: Any) -> None:
        """What is bound inside of a node may have been, or not."""
        starts = self._walk.starts
        low, high = node.start_byte, node.end_byte
        for binding in list(self._env):
            if any(low <= starts[token] < high for token in binding.tokens):
                del self._env[binding]

    def _met(self, ways: list[dict[Binding, int]]) -> dict[Binding, int]:
        """What binds each name at the end of all ways; of a name that conditions narrowed in some of them what it was before."""
        first, *others = ways
        found: dict[Binding, int] = {}
        for binding, row in first.items():
            if all(other.get(binding) == row for other in others):
                found[binding] = row
            elif len({self._origin(way.get(binding, -1)) for way in ways}) == 1 and (origin := self._origin(row)) >= 0:
                found[binding] = origin
        return found

    def _origin(self, row: int) -> int:
        """What bound a name before conditions narrowed it; -1 for no row alone."""
        while row in self._narrowed:
            row = self._narrowed[row]
        return row

    def _widen(self, before: dict[Binding, int]) -> None:
        """Of names that were narrowed since `before` counts what they were."""
        for binding, row in list(self._env.items()):
            if row in self._narrowed and before.get(binding) != row:
                origin = self._origin(row)
                if origin >= 0:
                    self._env[binding] = origin
                else:
                    del self._env[binding]
