"""The command `lspidx`. Thin: each command parses its words, calls one function and prints what it returns.

stdout holds the answer and nothing else; progress and errors go to stderr. A query loads click, DuckDB's core and its own tool.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import click

from indexer.errors import CutShort, LspidxError, ServerError, UsageError
from indexer.quoting import one_line
from query.cli.groups import Group, Main
from query.cli.terminal import Done, echo
from query.cli.trust_option import trust_option
from query.facts.sql import EXAMPLE

_EXIT_INTERRUPTED = 130
_LOADING = "<frozen importlib"
_LOADED_S = 0.05
_signals: list[int] = []
"""What has told this process to end. Whatever goes wrong from then on went wrong because of it: DuckDB, Arrow and children that got the
same signal each fail in their own way."""


@click.group(
    cls=Main,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: lspidx index && lspidx query callers main",
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
    if ctx.invoked_subcommand is None:
        from query.cli.welcome import welcome

        welcome()


@main_group.command(epilog="Example: lspidx index --jobs 4")
@click.argument("root", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--full", is_flag=True, help="Crawl again even if nothing has changed.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Server processes; default: one per core, at most 8.")
@click.option("--server", help="Entry of the server table; default: the language's first.")
@click.option("--second", help="Entry of the server table to ask about identifiers that are still open; default: none.")
@click.option("--python", help="Interpreter or environment of the project; default: looked for.")
@click.option("--exclude", multiple=True, help="Pattern of files to leave out; may be repeated.")
@click.option("--include", multiple=True, help="Pattern of files to read though they look vendored, generated or built; may be repeated.")
@click.option(
    "--scip",
    multiple=True,
    metavar="FILE[=LANGUAGE]",
    help="A SCIP file to ask in place of a server about the languages that it holds; may be repeated.",
)
@click.option("--folder", "folders", multiple=True, metavar="[NAME=]PATH", help="A further workspace folder; may be repeated.")
@click.option(
    "--allow-folder",
    "allowed",
    multiple=True,
    metavar="PATH",
    help="A place outside that the project's files may name or point to; remembered, may be repeated.",
)
@click.option(
    "--memory",
    "memory_mb",
    type=click.IntRange(500, 1_000_000),
    metavar="MB",
    help="Memory that the whole run may take; default: no limit.",
)
@trust_option
@click.option("--fetch", is_flag=True, help="First download what the languages' build tools ask for, into lspidx's own folders.")
@click.option(
    "--min-resolved", type=click.FloatRange(0, 100), metavar="%", help="Exit with 1 if a smaller share of a language is resolved."
)
@click.option("--accept-loss", is_flag=True, help="Replace the index even if it has a language that this run lost.")
@click.option("--forget", is_flag=True, help="Go by the flags given here alone, not by those that the present index was made with.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress, only the last line, which says what was done.")
@click.option("--behind", is_flag=True, hidden=True, help="For a process that answers meanwhile: publish parts, ask nobody anything.")
def index(**words: Any) -> None:
    """Make or refresh the index of ROOT (default: the workspace around here, usually the git root).

    A refresh takes the flags again with which the index was made, unless they are given anew or --forget is.
    Ends with 5 where most files of a language have no answers of a server; an index that has them then stays.
    """
    _index(_Wanted(**words))


class _Wanted(NamedTuple):
    """The words of `lspidx index`, as click gives them: None, or an empty list, for what was not said."""

    root: str | None
    full: bool
    jobs: int | None
    server: str | None
    second: str | None
    python: str | None
    exclude: tuple[str, ...]
    include: tuple[str, ...]
    scip: tuple[str, ...]
    folders: tuple[str, ...]
    allowed: tuple[str, ...]
    memory_mb: int | None
    fetch: bool
    min_resolved: float | None
    accept_loss: bool
    forget: bool
    quiet: bool
    behind: bool
    """For a process that answers meanwhile: see `query.cli.behind`."""

    def flags(self, folder: Path) -> dict[str, Any]:
        """Settings that later runs take again. `folder`: the root of the workspace."""
        return {
            "jobs": self.jobs,
            "server": self.server,
            "second": self.second,
            "python": str(Path(self.python).absolute()) if self.python else None,
            "exclude": list(self.exclude) or None,
            "include": list(self.include) or None,
            "scip": [_scip_file(entry) for entry in self.scip] or None,
            "folders": [_absolute_folder(entry) for entry in self.folders] or None,
            "allow_folders": [_allowed_folder(folder, entry) for entry in self.allowed] or None,
            "memory_mb": self.memory_mb,
            "fetch": self.fetch or None,
            "min_resolved": self.min_resolved,
        }


def _index(wanted: _Wanted) -> None:
    if wanted.behind:
        from query.cli import behind

        with _told_to_end():
            behind.index()
        return
    from indexer import vcs
    from indexer.config import load_config
    from indexer.consent import POINTER
    from indexer.crawl.plan.losses import unresolved_too_often
    from indexer.crawl.run import crawl
    from indexer.store.generations import Home
    from query.answers import advice
    from query.cli import consent, progress

    folder = Path(wanted.root).resolve() if wanted.root else vcs.find_root(Path.cwd().resolve())
    flags = wanted.flags(folder)
    remembered = {} if wanted.forget else Home(folder).flags()
    config = load_config(folder, flags=flags, remembered=remembered)
    if named := _named_places(flags):
        consent.remember_folders(folder, named)
    if not wanted.quiet and consent.folders_given(folder, config.refused):
        config = load_config(folder, flags=flags, remembered=remembered)
    with progress.watcher(quiet=wanted.quiet) as watcher, _told_to_end():
        made = crawl(folder, config, watcher, full=wanted.full, accept_loss=wanted.accept_loss, partial=True)
    if not wanted.quiet and consent.folders_given(folder, [item for item in made.refused if item.setting == POINTER]):
        config = load_config(folder, flags=flags, remembered=Home(folder).flags())
        with progress.watcher(quiet=wanted.quiet) as watcher, _told_to_end():
            made = crawl(folder, config, watcher, full=wanted.full, accept_loss=wanted.accept_loss, partial=True)
    asked: list[str] = []
    if not (wanted.fetch or wanted.quiet) and consent.given(folder, made.manifest.get("prerequisites", []), asked):
        config = load_config(folder, flags={**flags, "fetch": True}, remembered=Home(folder).flags())
        with progress.watcher(quiet=wanted.quiet) as watcher, _told_to_end():
            made = crawl(folder, config, watcher, full=wanted.full, accept_loss=wanted.accept_loss, partial=True)
    for line in [
        *advice.losses(made.manifest),
        *advice.lacking(made.manifest, fetched=config.fetch, told=asked),
        *advice.refused(made.manifest),
    ]:
        echo(line, err=True)
    echo(progress.summary(made), err=True)
    if made.manifest.get("languages_lost"):
        raise SystemExit(ServerError.exit_code)
    too_few = unresolved_too_often(made.manifest.get("resolution", {}), config.min_resolved)
    if too_few:
        echo("; ".join(too_few), err=True)
        raise SystemExit(1)


@contextlib.contextmanager
def _told_to_end() -> Generator[None]:
    """SIGTERM and SIGHUP interrupt as Ctrl-C does, so that what was found is not lost; one that is ignored stays so."""
    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
    before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ends what runs. A module that is being loaded is loaded first: one in C++ aborts the process where it meets an exception."""
    _signals.append(number)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_LOADING):
            again = threading.Timer(_LOADED_S, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _absolute_folder(entry: str) -> str:
    """A folder given on the command line is relative to where the user stands, not to the root."""
    name, equals, path = entry.rpartition("=")
    return f"{name}{equals}{Path(path).expanduser().absolute()}"


def _scip_file(entry: str) -> str:
    """FILE[=LANGUAGE] as the setting has it: LANGUAGE=FILE, and the file relative to where the user stands."""
    file, equals, language = (entry, "", "") if os.path.exists(entry) else entry.rpartition("=") if "=" in entry else (entry, "", "")
    return f"{language}{equals}{Path(file).expanduser().absolute()}"


def _allowed_folder(root: Path, entry: str) -> str:
    """A folder that is allowed: from where the user stands, or as the project's settings name it."""
    path = Path(entry).expanduser()
    return str(path.absolute() if path.is_absolute() or path.exists() or not (root / path).exists() else (root / path).absolute())


def _named_places(flags: Mapping[str, Any]) -> list[str]:
    """Places that the user has named in this run, which later runs may take from what is remembered of this one."""
    places = [entry.rpartition("=")[2] for entry in [*(flags["folders"] or []), *(flags["scip"] or [])]] + [*(flags["allow_folders"] or [])]
    return [*places, flags["python"]] if flags["python"] else places


@main_group.command(epilog="Example: lspidx status --json")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(as_json: bool) -> None:
    """What is indexed, what is missing, and how far the work tree has moved on."""
    from query.answers.style import Style
    from query.surface.budget import to_json
    from query.surface.registry import load
    from query.surface.service import Service

    tool, _ = load("index_status")
    answer = Service(Path.cwd(), max_chars=0).ask(tool.name, {"details": True})
    echo(to_json(answer) if as_json else "\n".join(tool.text(answer, Style())))


@main_group.command(epilog="Example: lspidx doctor --all")
@click.option("--all", "show_all", is_flag=True, help="Also languages that are neither here nor have a server.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, all languages.")
def doctor(show_all: bool, as_json: bool) -> None:
    """Per language: which server was looked for, which was found, its version and where it comes from."""
    from query.upkeep import doctor as report

    _print(report.doctor(Path.cwd()), lambda found: report.doctor_text(found, show_all=show_all), as_json)


@main_group.group(cls=Group, epilog="Example: lspidx servers install go")
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
    from query.upkeep import doctor as report

    made = install(names or report.lacking(Path.cwd()), say=lambda line: echo(line, err=True))
    _print(made, report.installed_text, as_json)


@servers.command("list", epilog="Example: lspidx servers list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def servers_list(as_json: bool) -> None:
    """Every server of the table: its languages, the version found, how it comes."""
    from indexer import vcs
    from query.upkeep import doctor as report

    _print(report.servers([str(vcs.find_root(Path.cwd().resolve()))]), report.servers_text, as_json)


@main_group.command(epilog="Example: lspidx config")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def config(as_json: bool) -> None:
    """Every setting with its value and where it comes from."""
    from indexer import vcs
    from indexer.config import load_config
    from indexer.store.generations import Home

    root = vcs.find_root(Path.cwd().resolve())
    loaded = load_config(root, remembered=Home(root).flags())
    rows: list[dict[str, Any]] = [{"name": name, "value": value, "source": loaded.sources[name]} for name, value in loaded.values().items()]
    _print(rows, lambda items: "\n".join(f"{item['name']:<20} {item['value']!r:<24} {item['source']}" for item in items), as_json)


@main_group.command(epilog=f'Example: lspidx sql "{EXAMPLE}" ')
@click.argument("statement")
@click.option("--json", "as_json", is_flag=True, help="A list of objects as JSON.")
def sql(statement: str, as_json: bool) -> None:
    """Run one read-only SQL statement on the documented views. Their lines and columns count from 0, those of all other commands from 1."""
    from query.facts import sql as door
    from query.facts.index import open_index

    with open_index() as opened:
        if opened.foreign:
            from query.facts.completeness import foreign

            echo(foreign(opened), err=True)
        names, rows = door.run(opened, statement)
    _print([dict(zip(door.unique(names), row, strict=True)) for row in rows], lambda _: door.table(names, rows), as_json)


@main_group.command(epilog="Example: lspidx lint")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def lint(as_json: bool) -> None:
    """Check that the index is well-formed; exit with 1 when it is not."""
    from indexer.store.lint import lint as check
    from query.facts.index import open_index

    with open_index() as opened:
        findings = check(opened.rows)
        if opened.foreign:
            from query.facts.completeness import foreign

            echo(foreign(opened), err=True)
    _print(
        [{"rule": item.rule, "count": item.count, "example": item.example} for item in findings],
        lambda items: (
            "\n".join(f"{item['rule']}: {item['count']}, e.g. {one_line(item['example'])}" for item in items) or "the index is well-formed"
        ),
        as_json,
    )
    if findings:
        raise SystemExit(1)


@main_group.command(epilog="Example: lspidx tools find_callers")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Declarations with JSON Schemas of parameters and answer, as JSON.")
def tools(name: str | None, as_json: bool) -> None:
    """All tools by task; with NAME everything about one: parameters, answer, limits."""
    from query.surface import manual

    if as_json:
        _print(manual.declarations(name), str, as_json)
    else:
        echo(manual.tool_text(name) if name else manual.tools_text())


@main_group.command(epilog="Example: lspidx completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """A script that completes commands, tools, options and names of symbols in SHELL; source what it prints."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    echo(made(main_group, {}, "lspidx", "_LSPIDX_COMPLETE").source())


def _print(value: Any, text: Callable[[Any], str], as_json: bool) -> None:
    if as_json:
        import msgspec

        echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=1).decode())
    else:
        echo(text(value))


def main() -> None:
    """Entry point of the command; turns errors into messages and exit codes, into JSON on stdout where --json was given."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign is no reason to fail
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
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
        vars(error)["message"] = one_line(error.message)  # a word may be a file's name, put there by the shell
        if "--json" in sys.argv:
            _fail(UsageError(error.format_message()))
        error.show()
        raise SystemExit(2) from None
    except (click.Abort, KeyboardInterrupt) as error:
        _interrupted(error)
    except Done as done:
        os._exit(done.code if isinstance(done.code, int) else 1)  # without DuckDB's teardown
    except SystemExit:
        if type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):  # click met the same as below
            raise SystemExit(0) from None
        raise
    except BrokenPipeError as error:  # the reader of our output went away: `lspidx … | head`
        if _signals:
            _interrupted(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except Exception as error:
        if _signals:
            _interrupted(error)
        if isinstance(error, LspidxError):
            _fail(error)
        from query.answers import mishaps

        _fail(mishaps.explained(error))  # exit with 1 would mean that a check failed


def _interrupted(error: BaseException) -> NoReturn:
    cut = next((item for item in (error, error.__cause__) if isinstance(item, CutShort)), None)
    echo(str(cut) if cut else "interrupted; the index is what it was before", err=True)
    raise SystemExit(_EXIT_INTERRUPTED) from None


def _require_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder was deleted; go to one that exists") from error


def _fail(error: LspidxError) -> NoReturn:
    from query.surface.render import error_record, error_text

    if "--json" in sys.argv:
        import json

        echo(json.dumps(error_record(error)))
    else:
        echo(error_text(error), err=True, color=_color(None))
    raise SystemExit(error.exit_code) from None


def _color(wanted: bool | None) -> bool | None:
    """None leaves it to the stream: colour on a terminal only."""
    if wanted is None and os.environ.get("NO_COLOR"):
        return False
    return True if wanted is None and os.environ.get("FORCE_COLOR") else wanted
