"""`lspidx query`: one subcommand per tool and alias, made from the tool's declaration when it is asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from indexer.encoding import open_plain
from indexer.errors import EditRefused, LspidxError, UsageError
from indexer.quoting import one_line
from query.cli.terminal import echo, leave, show

if TYPE_CHECKING:
    from query.answers.envelope import Answer

_EXIT_INCOMPLETE = 1
_MAX_COMPLETIONS = 30
_MAX_JSON_BYTES = 200_000_000
_PATIENCE_S = 20.0
"""At a terminal, for the first index: longer than that nobody waits without seeing something."""


class Tools(click.Group):
    """Subcommands by canonical name and alias; only the one that is used is loaded."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from query.surface.registry import ALIASES, names

        return [*ALIASES, *(name for name in names() if name not in ALIASES)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from query.surface.registry import load

        try:
            load(cmd_name)
        except UsageError:
            return None
        return _tool_command(cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            raise click.UsageError(f"no tool is called '{args[0]}'" + (f"; did you mean '{near[0]}'?" if near else "")) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from query.surface.manual import by_task

        for title, rows in by_task():
            with formatter.section(title):
                formatter.write_dl([("  ".join([*tool.aliases, tool.name]), tool.description) for tool in rows])


def _tool_command(name: str) -> click.Command:
    from query.cli import lists
    from query.surface.registry import CURSOR, load

    tool, preset = load(name)
    positional = tool.positional.split()
    params: list[click.Parameter] = []
    described: list[str] = []
    plain = tool.parameters()
    for field in _fields(tool.parameters):
        if field.name in preset:
            continue
        if field.name in positional:
            params.append(_argument(field))
            described.append(f"{field.name.upper()}: {_kind_of(field)[1]}.")
        else:
            params.append(_option(field, getattr(plain, field.name)))
    params.sort(key=lambda param: positional.index(str(param.name)) if param.name in positional else len(positional))
    params += [
        click.Option(["--json", "as_json"], is_flag=True, help="The whole envelope as JSON."),
        click.Option(["--compact"], is_flag=True, help="Text for agents: same content, fewer characters."),
        click.Option(["--strict"], is_flag=True, help="Exit with 1 when the answer is not complete."),
        click.Option(["--max-chars"], type=click.IntRange(0), help="Longer answers go to a file; default 100000, 0: no limit."),
    ]
    if lists.is_list(tool):
        params += lists.options(tool)
    if tool.continues and not tool.pages:
        params.append(click.Option(["--cursor"], help=CURSOR))
    if tool.needs_index:
        params.append(click.Option(["--fresh"], is_flag=True, help="Bring the index up to date first."))
        params.append(click.Option(["--no-auto-index"], is_flag=True, help="Where there is no index: make none in the background."))

    def run(**values: Any) -> None:
        _ask(name, values)

    example = tool.example.partition(" ")[2]
    return click.Command(
        name,
        params=params,
        callback=run,
        help="\n\n".join([tool.description, *described]),
        epilog=f"Example: lspidx query {name} {example}".rstrip(),
        no_args_is_help=tool.needs_index and bool(positional) and not tool.bare,
    )


def _fields(record: type[Any]) -> Any:
    import msgspec

    return msgspec.inspect.type_info(record).fields  # pyright: ignore[reportAttributeAccessIssue]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _kind_of(field: Any) -> tuple[Any, str]:
    """Type and description of a parameter."""
    import msgspec

    kind, text = field.type, ""
    if isinstance(kind, msgspec.inspect.Metadata):
        text, kind = (kind.extra_json_schema or {}).get("description", ""), kind.type
    return kind, text


def _argument(field: Any) -> click.Argument:
    import msgspec

    complete = _symbol_names if field.name in ("symbol", "query", "source", "target") else None
    if isinstance(_kind_of(field)[0], msgspec.inspect.ListType):
        return click.Argument([field.name], nargs=-1, shell_complete=complete)
    return click.Argument([field.name], required=False, default="", shell_complete=complete)


def _option(field: Any, default: Any) -> click.Option:
    import msgspec

    kind, text = _kind_of(field)
    if default not in ("", [], {}, None, False, 0):
        text += f"; default {str(default).lower() if default is True else default}"
    flag = f"--{field.name.replace('_', '-').lstrip('-')}"
    if isinstance(kind, msgspec.inspect.BoolType):
        return click.Option([f"{flag}/--no-{flag[2:]}", field.name], default=None, help=text)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return click.Option([flag, field.name], type=click.Choice([str(value) for value in kind.values]), help=text)
    if isinstance(kind, msgspec.inspect.IntType):
        return click.Option([flag, field.name], type=int, help=text)
    if _is_object(kind):
        return click.Option([flag, field.name], type=_json, metavar="JSON", help=f"{text}; JSON, @FILE, or - for standard input")
    if isinstance(kind, msgspec.inspect.ListType) and _is_object(kind.item_type):
        help_text = f"{text}; one or a list of them as JSON, @FILE, or - for standard input; may be repeated"
        return click.Option([flag, field.name], type=_json, metavar="JSON", multiple=True, callback=_flat, help=help_text)
    if isinstance(kind, msgspec.inspect.ListType):
        return click.Option([flag, field.name], multiple=True, help=f"{text}; may be repeated")
    return click.Option([flag, field.name], help=text)


def _is_object(kind: Any) -> bool:
    """Whether a parameter is a JSON object, whatever is in it, or null."""
    import msgspec

    if isinstance(kind, msgspec.inspect.Metadata):
        return _is_object(kind.type)
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(map(_is_object, kind.types))
    return isinstance(kind, (msgspec.inspect.DictType, msgspec.inspect.StructType, msgspec.inspect.TypedDictType))


def _json(value: str) -> Any:
    """A value that is no word: JSON text, a file that holds it, or standard input."""
    import msgspec

    text: str | bytes = value
    try:
        if value == "-":
            text = sys.stdin.buffer.read(_MAX_JSON_BYTES + 1)
        elif value.startswith("@"):
            with open_plain(value[1:]) as file:
                text = file.read(_MAX_JSON_BYTES + 1)
    except OSError as error:
        raise click.BadParameter(f"'{value[1:]}' cannot be read: {error.strerror}") from error
    if len(text) > _MAX_JSON_BYTES:
        raise click.BadParameter(f"it is longer than {_MAX_JSON_BYTES:,} bytes")
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        hint = "" if value == "-" or value.startswith(("@", "{", "[")) else "; a file is given as @FILE"
        raise click.BadParameter(f"it is no JSON: {error}{hint}") from error


def _flat(ctx: click.Context, param: click.Parameter, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Objects, whether they were given one by one or as lists."""
    return tuple(item for value in values for item in (value if isinstance(value, list) else [value]))


def _symbol_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Qualified names of the index that begin so, or whose last part does; none where there is no index."""
    from query.facts.index import open_index
    from query.facts.partial_names import completions

    try:
        with open_index() as index:
            found = completions(index, incomplete, _MAX_COMPLETIONS)
    except LspidxError:
        return []
    names = [name for name in found if one_line(name) == name]  # without what a shell would print and read as something else
    return [name if name.startswith(incomplete) else name[name.lower().rfind(incomplete.lower()) :] for name in names]


def _ask(name: str, values: dict[str, Any]) -> NoReturn:
    from query.cli.lists import order_of, shape_of
    from query.skills.kept import KeptPhases
    from query.surface.service import Service

    as_json, compact, strict, max_chars = (values.pop(option) for option in ("as_json", "compact", "strict", "max_chars"))
    fresh, begins = values.pop("fresh", False), not values.pop("no_auto_index", True)
    shape, order = shape_of(values, as_json=as_json), order_of(values)
    arguments = {key: _plain(value) for key, value in values.items() if value is not None and value != ()}
    from query.surface.budget import to_json

    whole = (as_json and not sys.stdout.isatty()) or shape.is_of_all
    whole = whole and not {"limit", "cursor"} & arguments.keys() and not _is_budgeted(name)
    if whole:  # whoever reads it, a program, gets all rows
        arguments |= _most(name)
        max_chars = max_chars or 0
    if order.is_said:
        if arguments.get("cursor"):
            said = "--sort, --path and --kind go over all rows, and a cursor over a part of them as the tool gives them: leave one out"
            raise UsageError(said)
        arguments |= _most(name)
        max_chars = max_chars or 0
    if as_json:
        written = to_json
    else:
        from query.answers.style import Style
        from query.surface.render import to_text

        style = Style(compact=compact)

        def written(answer: Answer[Any]) -> str:
            shaped = shape.text(answer, style, service.index_if_any)
            return to_text(answer, style) if shaped is None else shaped

    first = None
    if begins and _is_attended():
        from query.upkeep.first import First

        first = First(Path.cwd(), patience_s=_PATIENCE_S, stays=True, say=_say)
    service = Service(Path.cwd(), max_chars=max_chars, phases=KeptPhases(Path.cwd()), first=first, follows_edits=True)
    try:
        answer = service.ask(name, arguments, fresh=fresh, measure=written, strict=strict)
        if as_json and whole and answer.next_cursor and not max_chars:
            raise UsageError(
                f"there are more rows than {name} tells at once; ask for pages: --limit, and --cursor with next_cursor of each"
            )
        if order.is_said:
            answer = order.arranged(answer, service.index_if_any())
        index = service.index_if_any()
        show(written(answer), index.root if index is not None else Path.cwd())
        if shape.is_short:
            from query.surface.render import summary

            echo(summary(answer), err=True)
    finally:
        service.close()  # servers that were started here end here, also where the question is interrupted
    if answer.applied is False and arguments.get("apply"):  # the answer says why nothing was written
        leave(EditRefused.exit_code)
    leave(_EXIT_INCOMPLETE if strict and answer.completeness.status != "complete" else 0)


def _is_attended() -> bool:
    """Whether somebody sees that an index is begun: at a terminal, and not in CI, which keeps no process for later."""
    return sys.stderr.isatty() and os.environ.get("CI", "").lower() in ("", "0", "false")


def _say(line: str) -> None:
    echo(one_line(line), err=True)


def _is_budgeted(name: str) -> bool:
    """Whether an answer of this tool is a part by its nature, of the size that was asked for: for programs too."""
    from query.surface.registry import load

    return "budget" in load(name)[0].parameters.__struct_fields__


def _most(name: str) -> dict[str, int]:
    """The largest limit that a tool takes, as an argument; nothing where it takes none."""
    from query.surface.registry import load

    limit = load(name)[0].input_schema()["properties"].get("limit", {})
    return {"limit": limit["maximum"]} if "maximum" in limit else {}


@click.group(cls=Tools, invoke_without_command=True, epilog="Example: lspidx query callers Flask.route --depth 2")
@click.pass_context
def query(ctx: click.Context) -> None:
    """Ask the index a question; no language server runs. Without a question: the tools by task."""
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())
