"""The command `lspidx` as people and programs meet it: exit codes, streams, JSON, terminals."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import click
import msgspec
import pytest
from click.testing import CliRunner
from query_support import ASKED_ELSEWHERE, FILES, LSPIDX, damage, generation, json_of, lspidx, plain_environment, question
from support import write_tree

from query.answers.envelope import Answer
from query.cli import tools as cli_tools
from query.cli.command import main_group
from query.surface.registry import ALIASES, load, names

pytest_plugins = ["query_fixtures"]

ESCAPES = ("\x1b[2J", "\x1b[31mred", "\x1b]0;", "\x07")


def commands(group: click.Group = main_group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


# ---- exit codes and streams


def test_an_answer_even_an_empty_one_exits_with_0_and_stderr_is_silent(shop_root: Path):
    for arguments in (["query", "symbols", "run"], ["query", "symbols", "nothing_like_this", "--match", "exact"], ["status"], ["lint"]):
        done = lspidx(*arguments, cwd=shop_root)
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert done.stdout


def test_strict_exits_with_1_exactly_when_the_answer_is_not_complete(copy: Path):
    arguments = ["query", "symbols", "run", "--strict"]
    assert lspidx(*arguments, cwd=copy).returncode == 0
    (copy / "shop/new.py").write_text("run = 1\n", encoding="utf-8")
    done = lspidx(*arguments, cwd=copy)
    assert done.returncode == 1
    assert "shop.service.run" in done.stdout
    assert lspidx(*arguments[:-1], cwd=copy).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["query", "calers", "run"], 2, "did you mean 'callers'"),
        (["query", "symbols", "run", "--limit", "0"], 2, "limit"),
        (["query", "symbols", "run", "--limit", "x"], 2, "--limit"),
        (["query", "symbols", "run", "--bogus"], 2, "--bogus"),
        (["query", "outline", "../x.py"], 2, "outside the workspace"),
        (["query", "references", "middle", "--cursor", "no"], 2, "is no cursor"),
        (["-C", "no-such-folder", "status"], 2, "no-such-folder"),
        (["nothing"], 2, "nothing"),
        (["sql", "SELEC 1"], 2, "syntax error"),
        (["query", "callers", "midle"], 3, "did you mean"),
        (["query", "callers", "helper"], 3, "shop/sub/utils.py:1:5"),
    ],
)
def test_errors_have_an_exit_code_by_who_must_act(shop_root: Path, arguments: list[str], code: int, message: str):
    done = lspidx(*arguments, cwd=shop_root)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if arguments[0] == "query":
        done = lspidx(*arguments, "--json", cwd=shop_root)
        assert (done.returncode, done.stderr) == (code, "")
        assert set(json_of(done)["error"]) >= {"code", "message"}


def test_an_ambiguous_name_lists_candidates_that_can_be_sent_back(shop_root: Path):
    done = lspidx("query", "callers", "helper", "--json", cwd=shop_root)
    error = json_of(done)["error"]
    assert (error["code"], error["total"], len(error["candidates"])) == ("ambiguous", 2, 2)
    for candidate in error["candidates"]:
        assert lspidx("query", "callers", candidate["send"], cwd=shop_root).returncode == 0
        assert f"  {candidate['send']} " in lspidx("query", "callers", "helper", cwd=shop_root).stderr


def test_without_an_index_every_question_exits_with_4(tmp_path: Path):
    for arguments in (["query", "callers", "x"], ["status"], ["lint"], ["sql", "SELECT 1"]):
        done = lspidx(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (4, "")
        assert "to make one: lspidx index" in done.stderr
        done = lspidx(*arguments, "--json", cwd=tmp_path)
        assert (done.returncode, json_of(done)["error"]["code"]) == (4, "no_index")


def test_an_index_of_another_version_exits_with_4(copy: Path):
    damage(copy, "UPDATE meta SET value = '999' WHERE key = 'schema_version'")
    done = lspidx("query", "callers", "run", cwd=copy)
    assert done.returncode == 4
    assert "has schema 999, this lspidx reads" in done.stderr


@pytest.mark.parametrize("how", ["garbage", "truncated", "empty", "no table", "no pointer target"])
def test_a_damaged_index_exits_with_4(copy: Path, how: str):
    file = generation(copy)
    content = file.read_bytes()
    if how == "garbage":
        file.write_bytes(b"not a database" * 1000)
    elif how == "truncated":
        file.write_bytes(content[: len(content) // 3])
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "no table":
        damage(copy, "DROP TABLE symbol_card")
    else:
        (copy / ".lspidx/CURRENT").write_text("gen-77.duckdb\n", encoding="ascii")
    done = lspidx("query", "callers", "run", cwd=copy)
    assert done.returncode == 4
    assert "lspidx index" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_crawl_exits_with_130_and_the_old_index_answers(copy: Path):
    before = generation(copy), generation(copy).read_bytes()
    for number in range(200):  # so that it is not done before it is interrupted
        (copy / f"shop/new_{number}.py").write_text("from shop.service import run\n\nx = run(1)\n", encoding="utf-8")
    with subprocess.Popen(
        [str(LSPIDX), "index", "--jobs", "1"],
        cwd=copy,
        env=plain_environment(copy),
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # A background job of a non-interactive shell inherits SIGINT as ignored: the crawl must not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert first.startswith("crawl: ")
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert rest.strip() == "interrupted; the index is what it was before"
    assert (generation(copy), generation(copy).read_bytes()) == before
    assert lspidx("query", "callers", "shop.service.run", cwd=copy).returncode == 0


def test_a_reader_that_goes_away_is_no_error(shop_root: Path):
    command = f"{shlex.quote(str(LSPIDX))} sql 'SELECT repeat(symbol, 40) FROM symbols, range(400)' --json | head -c 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=shop_root, env=plain_environment(shop_root), capture_output=True, check=False
    )
    assert done.stderr == b""
    assert done.returncode == 0


# ---- JSON


@pytest.mark.parametrize("name", [name for name in (*ALIASES, *names()) if name not in ASKED_ELSEWHERE])
def test_json_is_one_object_of_the_declared_shape(shop_root: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    tool, _ = load(name)
    asked = question(tool)
    values = [item for name in tool.positional.split() for item in (asked[name] if isinstance(asked[name], list) else [asked[name]])]
    monkeypatch.chdir(shop_root)
    done = CliRunner().invoke(main_group, ["query", name, *values, "--json"])
    assert done.exit_code == 0, done.output
    answer = msgspec.json.decode(done.stdout, type=Answer)
    assert answer.tool == tool.name
    assert msgspec.convert(answer.result, tool.result) is not None
    assert CliRunner().invoke(main_group, ["query", name, *values]).exit_code == 0


def test_an_empty_partial_answer_reads_unlike_an_empty_complete_one(copy: Path):
    arguments = ["query", "symbols", "nothing_like_this", "--match", "exact"]
    complete = lspidx(*arguments, cwd=copy), json_of(lspidx(*arguments, "--json", cwd=copy))
    (copy / "shop/new.py").write_text("nothing_like_this = 1\n", encoding="utf-8")
    partial = lspidx(*arguments, cwd=copy), json_of(lspidx(*arguments, "--json", cwd=copy))
    assert (complete[1]["completeness"]["status"], partial[1]["completeness"]["status"]) == ("complete", "partial")
    assert complete[1]["result"] == partial[1]["result"] == []
    assert "stale" in partial[0].stdout
    assert "stale" not in complete[0].stdout


def test_status_doctor_and_config_are_json_too(shop_root: Path):
    status = json_of(lspidx("status", "--json", cwd=shop_root))["result"]["details"]
    assert status["manifest"]["counts"]["documents"] == len(FILES)
    assert status["work_tree"] == {"checked": True, "changed": [], "deleted": [], "new": []}
    asked = json_of(lspidx("query", "index_status", "--details", "--json", cwd=shop_root))
    assert json_of(lspidx("status", "--json", cwd=shop_root))["result"] == asked["result"]
    doctor = json_of(lspidx("doctor", "--json", cwd=shop_root))
    [python] = [item for item in doctor["languages"] if item["language"] == "python"]
    assert [item["found"] for item in python["servers"] if item["server"] == "ty"] == [True]
    config = json_of(lspidx("config", "--json", cwd=shop_root))
    assert {item["source"] for item in config} == {"default", "environment LSPIDX_DAEMON_IDLE_S"}


def test_status_prints_what_the_tool_says(shop_root: Path):
    printed = lspidx("status", cwd=shop_root).stdout
    assert printed.splitlines()[0] == str(shop_root)
    assert "  work tree  as indexed" in printed
    assert lspidx("query", "index_status", "--details", cwd=shop_root).stdout.startswith(printed)
    scoped = lspidx("query", "index_status", "shop", "--details", cwd=shop_root)
    assert (scoped.returncode, scoped.stdout) == (2, "")
    assert "details are about the whole index" in scoped.stderr


def test_config_tells_where_each_value_comes_from(tmp_path: Path):
    write_tree(tmp_path, {"lspidx.toml": "jobs = 3\n", "a.py": ""})
    done = lspidx("config", cwd=tmp_path, env={"LSPIDX_HOVER": "false"})
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert rows["jobs"].endswith("lspidx.toml")
    assert "3" in rows["jobs"]
    assert rows["hover"].endswith("environment LSPIDX_HOVER")
    assert rows["exclude"].endswith("default")


# ---- help


def test_every_command_helps_and_ends_with_an_example_that_parses():
    def parse(command: click.Command, arguments: list[str]) -> None:
        with command.make_context(command.name, list(arguments)) as context:
            left = [*context._protected_args, *context.args]
            if isinstance(command, click.Group) and (left or not command.invoke_without_command):
                _, inner, rest = command.resolve_command(context, left)
                assert inner is not None
                parse(inner, rest)

    for path, command in [((), main_group), *commands()]:
        done = CliRunner().invoke(main_group, [*path, "--help"], terminal_width=300)
        assert done.exit_code == 0
        last = done.output.strip().splitlines()[-1].strip()
        assert last.startswith("Example: lspidx "), path
        for example in last.removeprefix("Example: ").split(" && "):
            words = shlex.split(example)
            assert words[0] == "lspidx"
            assert tuple(words[1 : 1 + len(path)]) == path or path == ()
            parse(main_group, words[1:])
        assert command.help


def test_every_option_of_a_tool_is_explained():
    for path, command in commands():
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, (path, option.name)


# ---- where it runs


def test_it_works_from_a_subfolder_with_paths_relative_to_it(shop_root: Path):
    for folder, path in (
        (shop_root / "shop/sub", "utils.py"),
        (shop_root, "shop/sub/utils.py"),
        (shop_root / "tests", "../shop/sub/utils.py"),
    ):
        answer = json_of(lspidx("query", "outline", path, "--json", cwd=folder))
        assert answer["query"]["file_path"] == "shop/sub/utils.py", folder


def test_it_works_as_if_started_elsewhere(shop_root: Path, tmp_path: Path):
    done = lspidx("-C", str(shop_root / "shop"), "query", "outline", "sub/utils.py", cwd=tmp_path)
    assert done.returncode == 0
    assert "shop/sub/utils.py:1:5" in done.stdout


def test_a_deleted_working_folder_is_a_usage_error(tmp_path: Path):
    command = f"mkdir gone && cd gone && rmdir ../gone && exec {shlex.quote(str(LSPIDX))} status"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=plain_environment(tmp_path), capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == b"error: the current folder was deleted; go to one that exists\n"


def test_carriage_returns_of_a_source_are_not_shown():
    from query.answers.envelope import Completeness, Provenance, SymbolRecord
    from query.surface.render import to_text
    from query.tools.get_symbol_source import Source

    record = SymbolRecord(symbol="s", name="f", qualified_name="a.f", kind="function", path="a.py", line=1)
    answer = Answer(
        tool="get_symbol_source",
        query={},
        result=[Source(symbol=record, path="a.py", start_line=1, end_line=2, source="def f():\r\n    pass\r")],
        total=1,
        truncated=False,
        completeness=Completeness(status="complete"),
        provenance=Provenance(source="index", servers=["ty 1"], commit="", dirty=False, indexed_at="", generation=1),
    )
    assert "x0d" not in to_text(answer)


def test_it_runs_in_a_repository_that_has_its_own_packages_of_our_names(tmp_path: Path):
    trap = "raise SystemExit('the code of the repository was run')\n"
    root = write_tree(
        tmp_path / "trap",
        {
            **{f"{name}/__init__.py": trap for name in ("query", "indexer", "click", "duckdb")},
            **{f"{name}.py": trap for name in ("msgspec", "json", "_duckdb", "sitecustomize", "git")},
            "query/tools/__init__.py": trap,
            "main.py": "def start() -> None: ...\n\n\nstart()\n",
        },
    )
    done = lspidx("index", "--jobs", "1", cwd=root)
    assert done.returncode == 0, done.stderr
    for arguments in (["query", "callers", "start"], ["status"], ["doctor"], ["lint"], ["config"], ["sql", "SELECT 1"]):
        done = lspidx(*arguments, cwd=root)
        assert done.returncode == 0, done.stderr
        assert "was run" not in done.stdout + done.stderr
    assert "main.py:4:1" in lspidx("query", "callers", "start", cwd=root).stdout


# ---- terminals


@pytest.mark.parametrize("color", [{}, {"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}])
def test_control_characters_of_the_repository_never_reach_a_terminal(copy: Path, color: dict[str, str]):
    renamed = "path = 'shop/u' || chr(27) || '[31mred' || chr(10) || '.py' WHERE path = 'shop/utils.py'"
    damage(
        copy,
        *(f"UPDATE {table} SET {renamed}" for table in ("document", "symbol_card", "stamp")),
        "INSERT INTO skipped VALUES ('s' || chr(27) || '[31mred.py', 'python', 'too_large')",
        "INSERT INTO unresolved_import SELECT 0, 1, chr(27) || '[31mred'",
    )
    for arguments in (
        ["query", "callers", "warn"],
        ["query", "references", "warn", "--include-declaration"],
        ["query", "source", "warn"],
        ["query", "hover", "warn"],
        ["query", "symbols", "helper"],
        ["query", "definition", "shop.utils.helper"],
        ["query", "callers", "helper"],
        ["query", "outline", "no.py"],
        ["sql", "SELECT path, documentation FROM symbols"],
        ["status"],
    ):
        done = lspidx(*arguments, cwd=copy, env=color)
        for escape in ESCAPES:
            assert escape not in done.stdout + done.stderr, arguments
        assert "red\n.py" not in done.stdout + done.stderr or "nearest" in done.stderr, arguments
        assert ("\x1b[" in done.stdout + done.stderr) == (color == {"FORCE_COLOR": "1"} and arguments[0] != "sql"), arguments
    assert "\\u001b[31mred" in lspidx("query", "source", "warn", cwd=copy).stdout


def test_color_can_be_asked_for_and_refused(shop_root: Path):
    assert "\x1b[" in lspidx("--color", "query", "symbols", "run", cwd=shop_root, env={"NO_COLOR": "1"}).stdout
    assert "\x1b[" not in lspidx("--no-color", "query", "symbols", "run", cwd=shop_root, env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in lspidx("query", "symbols", "run", "--json", cwd=shop_root, env={"FORCE_COLOR": "1"}).stdout


def test_a_terminal_that_cannot_show_a_sign_is_no_reason_to_fail(shop_root: Path):
    done = lspidx("query", "symbols", "run", cwd=shop_root, env={"PYTHONIOENCODING": "iso8859-5"})
    assert done.returncode == 0
    assert "\\xb7" in done.stdout


def test_an_argument_that_is_not_utf8_is_a_usage_error(shop_root: Path):
    done = subprocess.run(
        [os.fsencode(LSPIDX), b"query", b"symbols", b"\xff"],
        cwd=shop_root,
        env=plain_environment(shop_root),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"is not valid UTF-8" in done.stderr


# ---- sql and lint


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM symbol",
        "UPDATE meta SET value = 'x'",
        "DROP TABLE symbol",
        "CREATE TEMP TABLE t AS SELECT 1",
        "CREATE MACRO f() AS 1",
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM read_parquet('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM glob('{secret}*')",
        "COPY (SELECT 1) TO '{made}'",
        "EXPORT DATABASE '{made}'",
        "ATTACH '{made}' AS other",
        "ATTACH ':memory:' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET threads = 8",
        "SET profiling_output = '{made}'",
        "PRAGMA enable_profiling",
        "CALL enable_logging(storage = 'file', storage_path = '{made}')",
        "SET log_query_path = '{made}'",
        "VACUUM",
        "BEGIN",
        "PREPARE p AS SELECT 1",
        "SELECT 1; DELETE FROM symbol",
        "SELECT 1; SELECT 2",
        "",
        ";",
        "-- nothing",
    ],
)
def test_sql_reads_the_views_and_nothing_else(shop_root: Path, tmp_path: Path, statement: str, monkeypatch: pytest.MonkeyPatch):
    secret, made = tmp_path / "secret.csv", tmp_path / "made"
    secret.write_text("top secret\n", encoding="utf-8")
    monkeypatch.chdir(shop_root)
    done = CliRunner().invoke(main_group, ["sql", statement.format(secret=secret, made=made)])
    assert getattr(done.exception, "exit_code", done.exit_code) == 2, repr(done.exception)
    assert "top secret" not in done.output
    assert not made.exists()


def test_sql_prints_a_table_or_json(shop_root: Path):
    statement = "SELECT name, kind, start_line FROM symbols WHERE name = 'middle'"
    done = lspidx("sql", statement, cwd=shop_root)
    assert done.stdout.splitlines()[0].split() == ["name", "kind", "start_line"]
    assert done.stdout.splitlines()[-1] == "(1 row; lines and columns count from 0)"
    [row] = json_of(lspidx("sql", statement + ";", "--json", cwd=shop_root))
    assert (row["name"], row["kind"]) == ("middle", "function")
    assert json_of(lspidx("sql", "SELECT 'nan'::DOUBLE AS a, [1, 2] AS b, DATE '2020-01-02' AS c", "--json", cwd=shop_root)) == [
        {"a": None, "b": [1, 2], "c": "2020-01-02"}
    ]
    assert json_of(lspidx("sql", "SELECT 1 AS a, 2 AS a", "--json", cwd=shop_root)) == [{"a": 1, "a_1": 2}]
    for statement in ("SHOW TABLES", "DESCRIBE symbols", "EXPLAIN SELECT 1", "WITH x AS (SELECT 1) FROM x", "VALUES (1)"):
        assert lspidx("sql", statement, cwd=shop_root).returncode == 0, statement


def test_lint_finds_planted_defects(copy: Path):
    assert lspidx("lint", cwd=copy).stdout == "the index is well-formed\n"
    damage(copy, "UPDATE symbol SET moniker = (SELECT min(moniker) FROM symbol) WHERE name = 'middle'", "DELETE FROM refs WHERE line = 3")
    done = lspidx("lint", cwd=copy)
    assert done.returncode == 1
    assert "symbols have unique monikers: 1" in done.stdout
    assert "references and occurrences agree: " in done.stdout
    assert {item["rule"] for item in json.loads(lspidx("lint", "--json", cwd=copy).stdout)} >= {"symbols have unique monikers"}


class Change(msgspec.Struct):
    line: int


class Parameters(msgspec.Struct, kw_only=True):
    one: Annotated[dict[str, Any], msgspec.Meta(description="an object")] = {}
    record: Change | None = None
    many: list[dict[str, Any]] = []
    records: Annotated[list[Change], msgspec.Meta(max_length=9)] = []
    words: list[str] = []


def test_parameters_that_are_objects_are_given_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One as text, from a file or from standard input; a list of them as one list or one by one."""

    plain = Parameters()
    options = [cli_tools._option(field, getattr(plain, field.name)) for field in cli_tools._fields(Parameters)]
    command = click.Command("try", params=list(options), callback=lambda **values: click.echo(json.dumps(values)))

    def given(*words: str, stdin: str | None = None) -> dict[str, Any]:
        done = CliRunner().invoke(command, words, input=stdin)
        return {name: value for name, value in json.loads(done.output).items() if value} if done.exit_code == 0 else {"error": done.output}

    (tmp_path / "x.json").write_text('{"line": 3}')
    assert given("--one", '{"a": 1}', "--record", f"@{tmp_path / 'x.json'}") == {"one": {"a": 1}, "record": {"line": 3}}
    assert given("--one", "-", stdin='{"b": 2}') == {"one": {"b": 2}}
    assert given("--many", '[{"a": 1}, {"a": 2}]', "--many", '{"a": 3}') == {"many": [{"a": 1}, {"a": 2}, {"a": 3}]}
    assert given("--records", '{"line": 1}', "--words", "[x") == {"records": [{"line": 1}], "words": ["[x"]}
    monkeypatch.setattr(cli_tools, "_MAX_JSON_BYTES", 5)
    assert "longer than 5 bytes" in given("--one", '{"a": 1}')["error"]
