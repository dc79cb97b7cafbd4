"""`lspidx report` and `lspidx graph`: what a change may break, and who calls what, in every form that people and CI take."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from indexer import plain_files
from indexer.errors import UsageError
from indexer.vcs import find_root
from query.cli.terminal import echo, echo_form, leave
from query.cli.trust_option import trust_option

if TYPE_CHECKING:
    from query.changes.rules import Level
    from query.facts.index import Index
    from query.reports.baseline import Accepted
    from query.reports.model import Report

FORMATS = ("text", "json", "markdown", "sarif", "github", "gitlab", "junit", "html")
GRAPH_FORMATS = ("mermaid", "dot", "svg", "html")

_LIMITS = ("critical", "high", "medium", "unknown", "low")
_EXIT_REACHED = 1
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


_LIKELY = -1


class _TestsLimit(click.ParamType[int]):
    """A number of tests, or `likely`: as many as the review calls so."""

    name = "tests limit"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "likely":
            return _LIKELY
        if not isinstance(value, str) or not value.isdecimal() or int(value) < 1:
            self.fail(f"{value!r} is neither 'likely' nor a number of tests", param, ctx)
        return int(value)


@click.command(epilog="Example: lspidx report --base origin/main --fail-on high --output sarif=lspidx.sarif --output html=report.html")
@click.option("--base", help="Branch or commit: its merge base with --head is the old side.")
@click.option("--head", help="With --base; default HEAD, '.' for the work tree.")
@click.option(
    "--scope",
    type=click.Choice(["unstaged", "staged", "uncommitted", "committed"]),
    help="unstaged: work tree against staged; staged: staged against HEAD; uncommitted: both; committed: see --range. Default: unstaged.",
)
@click.option("--range", "range_", metavar="RANGE", help="A..B, A...B (from their merge base), or one commit against its parent.")
@click.option("--make-base/--no-make-base", default=True, help="Index the old side where no index of it is here; default: yes.")
@trust_option
@click.option("--format", "form", type=click.Choice(FORMATS), help="What stdout, or the FILE of -o, holds; default: text.")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="[FORMAT=]FILE", help="Write to FILE, '-' is stdout; may be repeated with a FORMAT."
)
@click.option(
    "--fail-on",
    type=click.Choice(_LIMITS),
    help="Exit with 1 when a finding is as bad as this; accepted ones do not count. JUnit without it: high.",
)
@click.option("--baseline", type=click.Path(), metavar="FILE", help="Findings that are accepted, each with a reason.")
@click.option("--write-baseline", type=click.Path(), metavar="FILE", help="List the findings there; write a reason to each you accept.")
@click.option("--max-findings", type=click.IntRange(1), help="Findings shown, the worst first; numbers stay exact.")
@click.option(
    "--tests-only",
    type=click.Choice(["selectors", "command"]),
    is_flag=False,
    flag_value="selectors",
    help="Print only the affected tests: one selector per line, or (=command) command lines that run them.",
)
@click.option(
    "--tests-limit",
    type=_TestsLimit(),
    metavar="likely|N",
    help="With --tests-only: the likely tests, or the first N; stderr says how many that leaves out. Default: all.",
)
def report(**words: Any) -> None:
    """What a change may break, ranked, for reviewers and for CI.

    Compares two trees by git, shows which symbols changed and how risky that is, which callers were left alone, and which tests reach
    the change. Exit code 1 says that the level of --fail-on is reached.
    """
    _report_on(_Wanted(**words))


class _Wanted(NamedTuple):
    """The words of `lspidx report`, as click gives them: None, or an empty list, for what was not said."""

    base: str | None
    head: str | None
    scope: str | None
    range_: str | None
    make_base: bool
    form: str | None
    outputs: tuple[str, ...]
    fail_on: str | None
    baseline: str | None
    write_baseline: str | None
    max_findings: int | None
    tests_only: str | None
    tests_limit: int | None

    @property
    def sides(self) -> dict[str, str]:
        """Which two trees are compared, as `query.changes` takes it."""
        scope = self.scope or ("committed" if self.range_ else "unstaged")
        return {"scope": scope, "range_": self.range_ or "", "base": self.base or "", "head": self.head or ""}

    def check(self) -> None:
        """Raises UsageError for words that do not go together."""
        if self.tests_only and (self.form or self.outputs or self.fail_on or self.write_baseline):
            others = "--format, --output, --fail-on, --write-baseline"
            raise UsageError(f"--tests-only prints the tests and nothing else; leave out {others}")
        if self.tests_limit is not None and not self.tests_only:
            raise UsageError("--tests-limit belongs to --tests-only; reports name all tests, the likely ones first")
        if self.base and (self.scope or self.range_):
            raise UsageError("--base cannot be combined with --scope or --range")
        if self.range_ and self.scope not in (None, "committed"):
            raise UsageError(f"--range belongs to --scope committed, not to {self.scope}")


def _report_on(wanted: _Wanted) -> None:
    targets = _targets(wanted.form, wanted.outputs)
    wanted.check()
    from query.changes.diff import left_aside, without_installed
    from query.facts.completeness import foreign
    from query.facts.index import open_index
    from query.reports import baseline as accepted_findings

    accepted = _accepted(wanted.baseline, wanted.write_baseline)
    with open_index() as index:
        made = _report(index, accepted, wanted.sides, make_base=wanted.make_base)
        root = index.root
        strange = foreign(index) if index.foreign else ""
    aside = (without_installed if made.totals.files else left_aside)(root, made.compared)
    for said in [strange] * bool(strange) + aside:
        echo(said, err=True)
    if wanted.tests_only:
        _print_tests(made, wanted.tests_only, wanted.tests_limit, root)
        leave(0)
    if wanted.write_baseline:
        _write(wanted.write_baseline, accepted_findings.render(made.findings, accepted), "baseline")
        unexplained = sum(not item.accepted for item in made.findings)
        echo(f"{len(made.findings)} findings in '{wanted.write_baseline}', {unexplained} without a reason: not accepted yet", err=True)
    limit = cast("Level", wanted.fail_on) if wanted.fail_on else None
    texts: dict[str, str] = {}
    for kind, path in targets:
        if kind not in texts:
            texts[kind] = _render(kind, made, limit, wanted.max_findings)
        if path == "-":
            echo_form(texts[kind], kind)
        else:
            _write(path, click.unstyle(texts[kind]) if kind == "text" else texts[kind], kind)
    if "github" in texts and os.environ.get(_STEP_SUMMARY):
        from query.reports import markdown

        _append(os.environ[_STEP_SUMMARY], markdown.render(made, most_bytes=markdown.SUMMARY_BYTES, shown=wanted.max_findings or 1_000))
    reached = made.reaches(limit) if limit else 0
    if reached:
        echo(f"{reached} finding{'s' if reached > 1 else ''} at {wanted.fail_on} or worse (--fail-on {wanted.fail_on})", err=True)
    leave(_EXIT_REACHED if reached or (limit and strange) else 0)  # a stranger's index may hide what would be found


def _targets(form: str | None, outputs: tuple[str, ...]) -> list[tuple[str, str]]:
    """(format, file) of all that is to be written; `-` is stdout."""
    found: list[tuple[str, str]] = []
    plain: list[str] = []
    for output in outputs:
        kind, equals, path = output.partition("=")
        if equals and kind in FORMATS:
            found.append((kind, path))
        else:
            plain.append(output)
    if len(plain) > 1:
        raise UsageError(f"several files for one format: {', '.join(plain)}; name the format of each: --output html=FILE")
    if plain:
        found.append((form or "text", plain[0]))
    elif form or not found:
        found.append((form or "text", "-"))
    for kind, path in found:
        if not path:
            raise UsageError(f"--output {kind}= names no file")
    if sum(path == "-" for _, path in found) > 1:
        raise UsageError("stdout can hold one format only")
    return found


def _accepted(baseline: str | None, write_baseline: str | None) -> list[Accepted]:
    """The baseline that is read: the one that is named, else the one that is to be written anew, if it is there."""
    from query.reports.baseline import read

    if baseline:
        return read(Path(baseline))
    if write_baseline and Path(write_baseline).exists():
        return read(Path(write_baseline))
    return []


def _report(index: Index, accepted: list[Accepted], between: dict[str, Any], *, make_base: bool) -> Report:
    from query.changes.diff import sides
    from query.changes.review import Ask, review
    from query.facts.completeness import Certificate
    from query.reports.model import report as made_of

    ask = Ask(sides(index.root, **between), make_base=make_base, with_churn=True)
    return made_of(review(index, Certificate(index), ask, progress=_progress()), index.root, accepted)


def _progress() -> Callable[[int, int, str], None]:
    """Says once that the old side is being indexed: that takes as long as an index does."""
    told: set[str] = set()

    def progress(done: int, total: int, what: str) -> None:
        if what not in told:
            told.add(what)
            echo(f"indexing the old side ({total} files), once …" if what == "base" else f"{what} …", err=True)

    return progress


def _render(kind: str, made: Report, limit: Level | None, most: int | None) -> str:
    """One format; its module alone is loaded."""
    if kind == "text":
        from query.answers.style import Style
        from query.reports import terminal

        return terminal.render(made, Style(), shown=most or terminal.SHOWN)
    if kind == "json":
        import msgspec

        whole = made if most is None else msgspec.structs.replace(made, findings=made.findings[:most])
        return msgspec.json.format(msgspec.json.encode(whole), indent=1).decode() + "\n"
    if kind == "markdown":
        from query.reports import markdown

        return markdown.render(made, shown=most or 1_000)
    if kind == "sarif":
        from query.reports import sarif

        return sarif.render(made, shown=most or sarif.MOST_RESULTS)
    if kind == "github":
        from query.reports import github

        return github.render(made, shown=most or 1_000)
    if kind == "gitlab":
        from query.reports import gitlab

        return gitlab.render(made, shown=most or gitlab.MOST)
    if kind == "junit":
        from query.reports import junit

        return junit.render(made, fail_on=limit or "high", shown=most or junit.MOST)
    from query.reports import page

    return page.render(made, shown=most or page.MOST_FINDINGS)


def _print_tests(made: Report, how: str, limit: int | None, root: Path) -> None:
    from query.answers.style import one_line
    from query.reports.commands import commands, selectors

    if made.completeness.status != "complete":
        echo(f"{made.completeness.status}: tests may be missing; see: lspidx report", err=True)
    most = made.totals.likely_tests if limit == _LIKELY else limit
    tests = made.tests[:most]
    if len(tests) < len(made.tests):
        echo(f"{len(tests)} of {len(made.tests)} tests that reach the change (--tests-limit)", err=True)
    lines = [command.line for command in commands(tests, root)] if how == "command" else selectors(tests)
    for line in lines:
        echo(one_line(line))


def _write(path: str, text: str, form: str) -> None:
    if path == "-":
        echo_form(text, form)
        return
    place = Path(path).absolute()
    link = plain_files.link_on_the_way(find_root(Path.cwd().resolve()), place)
    if link is not None:
        raise UsageError(f"'{link}' is a link of the workspace, and the report would be written where it leads; name that place")
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror or error}") from error


def _append(path: str, text: str) -> None:
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        echo(f"{_STEP_SUMMARY}: '{path}' cannot be written: {error.strerror or error}", err=True)


# ---- graph


@click.command(epilog="Example: lspidx graph Flask.route --format svg -o route.svg", no_args_is_help=True)
@click.argument("symbol")
@click.option("--format", "form", type=click.Choice(GRAPH_FORMATS), default="mermaid", show_default=True, help="How it is drawn.")
@click.option("--depth", type=click.IntRange(1, 10), default=2, show_default=True, help="Steps from the symbol.")
@click.option(
    "--direction", type=click.Choice(["incoming", "outgoing", "both"]), default="both", show_default=True, help="Callers, callees."
)
@click.option("--tests", type=click.Choice(["include", "exclude", "only"]), default="exclude", show_default=True, help="Calls in tests.")
@click.option("--external/--no-external", default=False, help="Callees outside the workspace too; default: no.")
@click.option("--limit", type=click.IntRange(1, 500), default=60, show_default=True, help="Edges that are drawn.")
@click.option("-o", "--output", metavar="FILE", default="-", help="Default: stdout.")
def graph(symbol: str, form: str, depth: int, direction: str, tests: str, external: bool, limit: int, output: str) -> None:
    """Draw who calls SYMBOL and whom it calls."""
    from query.facts.index import open_index
    from query.reports import graphs
    from query.surface.registry import call

    asked = {"depth": depth, "tests": tests, "external": external, "limit": limit}
    with open_index() as index:
        ways = ["incoming", "outgoing"] if direction == "both" else [direction]
        answers = [call(index, "find_callers", {"symbol": symbol, "direction": way, **asked}) for way in ways]
    edges = [edge for rank in range(limit) for answer in answers for edge in answer.result[rank : rank + 1]][:limit]
    total = sum(answer.total for answer in answers)
    drawn = graphs.of_calls(answers[0].query["resolved"], edges, total)
    name = answers[0].query["resolved"]["qualified_name"]
    reasons = list({reason.code: reason for answer in answers for reason in answer.completeness.reasons}.values())
    remarks = [f"{reason.code}: {reason.detail}" for reason in reasons]
    if drawn.left_out:
        remarks.insert(0, f"{len(drawn.edges)} of {total} edges are drawn, the nearest first; more: --limit")
    title = f"Calls around {name}"
    if form in ("mermaid", "dot"):
        from query.reports import mermaid

        text = mermaid.mermaid(drawn) if form == "mermaid" else mermaid.dot(drawn)
    elif form == "svg":
        from query.reports import svg

        text = svg.svg(drawn, title) + "\n"
    else:
        from query.reports import page

        text = page.graph_page(drawn, title, remarks)
    _write(output, text, form)
    if form != "html" or output != "-":
        from query.answers.style import one_line

        for remark in remarks:
            echo(one_line(remark), err=True)
    sys.stdout.flush()
    leave(0)
