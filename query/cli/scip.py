"""`lspidx scip`: the index in the file format that other tools read."""

from __future__ import annotations

from pathlib import Path

import click

from query.cli.terminal import echo

_EXIT_INCOMPLETE = 1


@click.group(epilog="Example: lspidx scip export -o index.scip")
def scip() -> None:
    """The index as SCIP, which code search, code review and other tools read; and files of SCIP as a source of it."""


@scip.command("export", epilog="Example: lspidx scip export -o index.scip")
@click.option("-o", "--output", default="index.scip", show_default=True, type=click.Path(), help="The file to write.")
@click.option("--strict", is_flag=True, help="Exit with 1 when the index may lack something; the file is written all the same.")
@click.option("--json", "as_json", is_flag=True, help="What was written, as JSON.")
def export_(output: str, strict: bool, as_json: bool) -> None:
    """Write the whole index as one SCIP file: definitions, references, signatures, documentation, relationships.

    A file that is not what was indexed is left out, and named: its positions would be wrong. What the index may lack is told on stderr
    and stands in the file, among the arguments of the tool that made it. The same index gives the same bytes.
    """
    from query.facts.index import open_index
    from query.scip.export import sentence, write
    from query.surface.render import reason_line

    with open_index() as index:
        done = write(index, Path(output))
    if as_json:
        import msgspec

        echo(msgspec.json.format(msgspec.json.encode(done), indent=1).decode())
    else:
        echo(sentence(done))
        for reason in done.completeness.reasons:
            echo(reason_line(reason), err=True)
    if strict and done.completeness.status != "complete":
        raise SystemExit(_EXIT_INCOMPLETE)


@scip.command("import", epilog="Example: lspidx scip import index.scip")
@click.argument("files", nargs=-1, required=True, metavar="FILE[=LANGUAGE]...")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress, only the last line, which says what was done.")
@click.pass_context
def import_(context: click.Context, files: tuple[str, ...], quiet: bool) -> None:
    """Make the index of the workspace around here from SCIP files, and from servers for the languages that they do not hold.

    The same as `lspidx index --scip FILE`: a file is asked which symbol stands at each place; scopes, roles and calls come from the
    sources. Of a source that is not the text that the file is about nothing is taken, and it is a gap. Later runs ask the file again.
    """
    from query.cli.command import index

    context.invoke(index, scip=files, quiet=quiet)
