"""A tool as a Python function: its signature, its documentation, and the function that asks it.

`query.api` gives the functions; `query.surface.generate` writes their signatures to `query/api.pyi`.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from query.answers.envelope import Answer
from query.facts.index import Index
from query.surface.registry import Tool, call

_MODULE = "query.api"
_MAX_LINE = 140


def of(tool: Tool) -> Callable[..., Answer[Any]]:
    """The function that asks the tool. What it is given by position and by name is what `signature` says."""
    declared = signature(tool)
    empty = _given_as_none(tool)

    def ask(*positional: Any, **named: Any) -> Answer[Any]:
        try:
            given = declared.bind(*positional, **named).arguments
        except TypeError as error:
            raise TypeError(f"{tool.name}() {error}") from None
        arguments = {name: value for name, value in given.items() if name != "index" and not (value is None and name in empty)}
        return call(given["index"], tool.name, arguments)

    ask.__name__ = ask.__qualname__ = tool.name
    ask.__module__ = _MODULE
    ask.__doc__ = documentation(tool)
    ask.__annotations__ = {name: parameter.annotation for name, parameter in declared.parameters.items()}
    ask.__annotations__["return"] = declared.return_annotation
    ask.__signature__ = declared  # pyright: ignore[reportFunctionMemberAccess]
    return ask


def signature(tool: Tool) -> inspect.Signature:
    """The index, then the tool's parameters: its positional ones first, all others by name only."""
    hints = get_type_hints(tool.parameters)
    plain, empty = tool.parameters(), _given_as_none(tool)
    positional = tool.positional.split()
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    index = inspect.Parameter("index", kinds[0], annotation=Index if tool.needs_index else Index | None)
    parameters = [
        inspect.Parameter(
            name,
            kinds[name not in positional],
            default=None if name in empty else getattr(plain, name),
            annotation=hints[name] | None if name in empty else hints[name],
        )
        for name in _ordered(tool)
    ]
    return inspect.Signature([index, *parameters], return_annotation=Answer[tool.result])


def documentation(tool: Tool) -> str:
    """The tool's description, and what each parameter means."""
    hints = get_type_hints(tool.parameters, include_extras=True)
    described = [f"        {name}: {meaning}" for name in _ordered(tool) if (meaning := _meaning(hints[name]))]
    if not described:
        return tool.description
    return "\n".join([tool.description, "", "    Args:", *(line for item in described for line in _wrapped(item)), "    "])


def _ordered(tool: Tool) -> list[str]:
    positional = tool.positional.split()
    return [*positional, *(name for name in tool.parameters.__struct_fields__ if name not in positional)]


def _given_as_none(tool: Tool) -> set[str]:
    """Lists and mappings that are empty by default: None says so in a signature, where a value would be shared by all calls."""
    plain = tool.parameters()
    return {name for name in tool.parameters.__struct_fields__ if isinstance(getattr(plain, name), (list, dict))}


def _meaning(hint: Any) -> str:
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((extra.description for extra in extras if isinstance(extra, msgspec.Meta) and extra.description), "")


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _MAX_LINE, initial_indent="", subsequent_indent=" " * 12, break_on_hyphens=False)
