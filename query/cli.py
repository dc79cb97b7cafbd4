"""The command `lspidx`. Thin: each command parses its words, calls one function and prints what it returns.

stdout holds the answer and nothing else; progress and errors go to stderr. A query loads click, DuckDB's core and its own tool.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from indexer.errors import Bug, LspidxError, UsageError

_EXIT_INTERRUPTED = 130
_EXIT_INCOMPLETE = 1


class _Group(click.Group):
    """Commands in the order of their use, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog="Example: lspidx index && lspidx query callers main"
)
@click.option("-C", "directory", type=click.Path(exists=True, file_okay=False), help="Work as if started in this folder.")
@click.option("--color/--no-color", default=None, help="Colour; default: on a terminal, unless NO_COLOR is set.")
@click.version_option(package_name="lspidx")
@click.pass_context
def main_group(ctx: click.Context, directory: str | None, color: bool | None) -> None:
    """Index a repository with language servers, then ask it questions offline."""
    if directory:
        os.chdir(directory)
    ctx.color = _color(color)


@main_group.command(epilog="Example: lspidx index --jobs 4")
@click.argument("root", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--full", is_flag=True, help="Crawl again even if nothing has changed.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Server processes; default: one per core, at most 8.")
@click.option("--server", help="Entry of the server table; default: the language's first.")
@click.option("--python", help="Interpreter or environment of the project; default: found.")
@click.option("--exclude", multiple=True, help="Pattern of files to leave out; may be repeated.")
@click.option("--folder", "folders", multiple=True, metavar="[NAME=]PATH", help="A further workspace folder; may be repeated.")
@click.option("--memory", "memory_mb", type=click.IntRange(500, 1_000_000), metavar="MB", help="For the whole run; default: no limit.")
@click.option("--quiet", "-q", is_flag=True, help="No progress; the last line still counts.")
def index(
    root: str | None,
    full: bool,
    jobs: int | None,
    server: str | None,
    python: str | None,
    exclude: tuple[str, ...],
    folders: tuple[str, ...],
    memory_mb: int | None,
    quiet: bool,
) -> None:
    """Make or refresh the index of ROOT (default: the workspace around here, usually the git root)."""
    from indexer import vcs
    from indexer.config import load_config
    from indexer.crawl.run import crawl
    from query import progress

    folder = Path(root).resolve() if root else vcs.find_root(Path.cwd().resolve())
    flags = {
        "jobs": jobs,
        "server": server,
        "python": str(Path(python).absolute()) if python else None,
        "exclude": list(exclude) or None,
        "folders": [_absolute_folder(entry) for entry in folders] or None,
        "memory_mb": memory_mb,
    }
    config = load_config(folder, flags=flags)
    with progress.watcher(quiet=quiet) as watcher:
        made = crawl(folder, config, watcher, full=full)
    click.echo(progress.summary(made), err=True)


def _absolute_folder(entry: str) -> str:
    """A folder given on the command line is relative to where the user stands, not to the root."""
    name, equals, path = entry.rpartition("=")
    return f"{name}{equals}{Path(path).expanduser().absolute()}"


class _Tools(click.Group):
    """One subcommand per tool and alias, made from the tool's declaration when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from query.registry import ALIASES, names

        return [*ALIASES, *names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from query.registry import load

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
        from query.registry import load

        rows = [(name, load(name)[0].description) for name in self.list_commands(ctx)]
        with formatter.section("Tools"):
            formatter.write_dl(rows)


@main_group.group(cls=_Tools, epilog="Example: lspidx query callers Flask.route --depth 2")
def query() -> None:
    """Ask the index a question; no language server runs."""


def _tool_command(name: str) -> click.Command:
    from query.registry import load

    tool, preset = load(name)
    hints = {field.name: field for field in _fields(tool.parameters)}
    params: list[click.Parameter] = []
    for field in hints.values():
        if field.name in preset:
            continue
        if field.name == tool.positional:
            params.append(click.Argument([field.name], required=False, default=""))
        else:
            params.append(_option(field))
    params += [
        click.Option(["--json", "as_json"], is_flag=True, help="The whole envelope as JSON."),
        click.Option(["--strict"], is_flag=True, help="Exit with 1 when the answer is not complete."),
    ]

    def run(as_json: bool, strict: bool, **values: Any) -> None:
        _ask(name, {key: _plain(value) for key, value in values.items() if value is not None and value != ()}, as_json, strict)

    example = tool.example.partition(" ")[2]
    return click.Command(
        name,
        params=params,
        callback=run,
        help=tool.description,
        epilog=f"Example: lspidx query {name} {example}",
        no_args_is_help=tool.needs_index,
    )


def _fields(record: type[Any]) -> Any:
    import msgspec

    return msgspec.inspect.type_info(record).fields  # pyright: ignore[reportAttributeAccessIssue]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _option(field: Any) -> click.Option:
    import msgspec

    kind, text = field.type, ""
    if isinstance(kind, msgspec.inspect.Metadata):
        text, kind = (kind.extra_json_schema or {}).get("description", ""), kind.type
    flag = f"--{field.name.replace('_', '-')}"
    if isinstance(kind, msgspec.inspect.BoolType):
        return click.Option([f"{flag}/--no-{flag[2:]}", field.name], default=None, help=text)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return click.Option([flag, field.name], type=click.Choice([str(value) for value in kind.values]), help=text)
    if isinstance(kind, msgspec.inspect.IntType):
        return click.Option([flag, field.name], type=int, help=text)
    if isinstance(kind, msgspec.inspect.ListType):
        return click.Option([flag, field.name], multiple=True, help=f"{text}; may be repeated")
    return click.Option([flag, field.name], help=text)


def _ask(name: str, arguments: dict[str, Any], as_json: bool, strict: bool) -> None:
    import msgspec

    from query.index import open_index
    from query.registry import call, load

    answer = call(open_index() if load(name)[0].needs_index else None, name, arguments)
    if as_json:
        click.echo(msgspec.json.encode(answer).decode())
    else:
        from query.render import to_text

        click.echo(to_text(answer))
    _leave(_EXIT_INCOMPLETE if strict and answer.completeness.status != "complete" else 0)


def _leave(code: int) -> None:
    """Ends the process without waiting for DuckDB to tear down; everything is printed by now."""
    sys.stdout.flush()
    sys.stderr.flush()
    if "pytest" in sys.modules:
        raise SystemExit(code)
    os._exit(code)


@main_group.command(epilog="Example: lspidx status --json")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(as_json: bool) -> None:
    """What is indexed, what is missing, and how far the work tree has moved on."""
    from query import status as report
    from query.index import open_index

    with open_index() as opened:
        _print(report.status(opened), report.status_text, as_json)


@main_group.command(epilog="Example: lspidx doctor --all")
@click.option("--all", "show_all", is_flag=True, help="Also languages that are neither here nor have a server.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, all languages.")
def doctor(show_all: bool, as_json: bool) -> None:
    """Per language: which server was looked for, which was found, its version and where it comes from."""
    from query import doctor as report

    _print(report.doctor(Path.cwd()), lambda found: report.doctor_text(found, show_all=show_all), as_json)


@main_group.group(cls=_Group, epilog="Example: lspidx servers install go")
def servers() -> None:
    """The language servers in lspidx's own folder, and those that it knows of."""


@servers.command("install", epilog="Example: lspidx servers install typescript go")
@click.argument("names", nargs=-1, metavar="[LANGUAGE|SERVER]...")
@click.option("--json", "as_json", is_flag=True, help="What is installed now, as JSON.")
def servers_install(names: tuple[str, ...], as_json: bool) -> None:
    """Put pinned servers into lspidx's own folder, by pip, npm, go or cargo.

    A language stands for its default server. Without names: the default servers that this repository's languages lack.
    """
    from indexer.servers.install import install
    from query import doctor as report

    made = install(names or report.lacking(Path.cwd()), say=lambda line: click.echo(line, err=True))
    _print(made, report.installed_text, as_json)


@servers.command("list", epilog="Example: lspidx servers list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def servers_list(as_json: bool) -> None:
    """Every server of the table: its languages, the version found, how it comes."""
    from query import doctor as report

    _print(report.servers(), report.servers_text, as_json)


@main_group.command(epilog="Example: lspidx config")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def config(as_json: bool) -> None:
    """Every setting with its value and where it comes from."""
    from indexer import vcs
    from indexer.config import load_config

    loaded = load_config(vcs.find_root(Path.cwd().resolve()))
    rows = [{"name": name, "value": value, "source": loaded.sources[name]} for name, value in loaded.values().items()]
    _print(rows, lambda items: "\n".join(f"{item['name']:<20} {item['value']!r:<24} {item['source']}" for item in items), as_json)


@main_group.command(epilog="""Example: lspidx sql "SELECT kind, count(*) FROM symbols GROUP BY kind" """)
@click.argument("statement")
@click.option("--json", "as_json", is_flag=True, help="A list of objects as JSON.")
def sql(statement: str, as_json: bool) -> None:
    """Run one read-only SQL statement on the documented views."""
    from query import sql as door
    from query.index import open_index

    with open_index() as opened:
        names, rows = door.run(opened, statement)
    _print([dict(zip(door.unique(names), row, strict=True)) for row in rows], lambda _: door.table(names, rows), as_json)


@main_group.command(epilog="Example: lspidx lint")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def lint(as_json: bool) -> None:
    """Check that the index is well-formed; exit with 1 when it is not."""
    from indexer.store.lint import lint as check
    from query.index import open_index
    from query.style import one_line

    with open_index() as opened:
        findings = check(opened.rows)
    _print(
        [{"rule": item.rule, "count": item.count, "example": item.example} for item in findings],
        lambda items: (
            "\n".join(f"{item['rule']}: {item['count']}, e.g. {one_line(item['example'])}" for item in items) or "the index is well-formed"
        ),
        as_json,
    )
    if findings:
        raise SystemExit(1)


def _print(value: Any, text: Callable[[Any], str], as_json: bool) -> None:
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=1).decode())
    else:
        click.echo(text(value))


def main() -> None:
    """Entry point of the command; turns errors into messages and exit codes, into JSON on stdout where --json was given."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign is no reason to fail
    try:
        _require_folder()
        main_group(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        raise SystemExit(error.exit_code) from None
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        raise SystemExit(2) from None
    except click.ClickException as error:
        if "--json" in sys.argv:
            _fail(UsageError(error.format_message()))
        error.show()
        raise SystemExit(2) from None
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; the index is what it was before", err=True)
        raise SystemExit(_EXIT_INTERRUPTED) from None
    except LspidxError as error:
        _fail(error)
    except SystemExit:
        if type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):  # click met the same as below
            raise SystemExit(0) from None
        raise
    except BrokenPipeError:  # the reader of our output went away: `lspidx … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except Exception as error:  # exit with 1 would mean that a check failed
        import traceback

        traceback.print_exc()
        _fail(Bug(f"internal error: {type(error).__name__}: {error}; please report it with the lines above"))


def _require_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder was deleted; go to one that exists") from error


def _fail(error: LspidxError) -> NoReturn:
    from query.render import error_record, error_text

    if "--json" in sys.argv:
        import json

        click.echo(json.dumps(error_record(error)))
    else:
        click.echo(error_text(error), err=True, color=_color(None))
    raise SystemExit(error.exit_code) from None


def _color(wanted: bool | None) -> bool | None:
    """None leaves it to the stream: colour on a terminal only."""
    if wanted is None and os.environ.get("NO_COLOR"):
        return False
    return True if wanted is None and os.environ.get("FORCE_COLOR") else wanted


if __name__ == "__main__":
    main()
