"""completion/complete: what a person has begun to type for an argument of a prompt, or for the name in the address of a symbol."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from indexer.errors import LspidxError
from indexer.quoting import one_line
from query.facts.index import Index
from query.facts.partial_names import completions, paths
from query.mcp import prompts, resources
from query.mcp.tools import Request, Tools
from query.surface.registry import load

_MOST = 100
"""The protocol allows no more."""

_OF_INDEX: Mapping[str, Callable[[Index, str, int], list[str]]] = {
    "symbol": completions,
    "name": completions,
    "target": completions,
    "file": paths,
    "path": paths,
}
"""By the name of an argument."""


class Completions:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def complete(self, ctx: Request, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Values that fit, best first; none for what is anybody's to choose, and where there is no index yet.

        Raises:
            MCPError: there is no such prompt or template.
        """
        _require_known(params.ref)
        wanted = params.argument.name
        typed = params.argument.value
        if wanted == "scope":
            scopes: list[str] = load("detect_changes")[0].input_schema()["properties"]["scope"]["enum"]
            found = [scope for scope in scopes if scope.startswith(typed)]
        elif wanted in _OF_INDEX:
            found = await self._of_index(ctx, _OF_INDEX[wanted], typed)
        else:
            found = []
        shown = [value for value in found if one_line(value) == value][:_MOST]
        return types.CompleteResult(completion=types.Completion(values=shown, total=len(found), has_more=len(found) > len(shown)))

    async def _of_index(self, ctx: Request, look: Callable[[Index, str, int], list[str]], typed: str) -> list[str]:
        try:
            return await self._tools.on_index(ctx, lambda index: look(index, typed, _MOST + 1))
        except LspidxError:  # no index, or one that cannot be read: who asks a question is told so
            return []


def _require_known(ref: types.PromptReference | types.ResourceTemplateReference) -> None:
    if isinstance(ref, types.PromptReference):
        if not prompts.is_known(ref.name):
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt '{ref.name}'; prompts/list has them")
    elif str(ref.uri) != resources.TEMPLATE.uri_template:
        raise MCPError(types.INVALID_PARAMS, f"there is no resource template '{ref.uri}'; known: {resources.TEMPLATE.uri_template}")
