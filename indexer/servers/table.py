"""The table of languages and servers in indexer/doc/languages.md, made from servers.toml.

python -m indexer.servers.table indexer/doc/languages.md     writes it between the marks of that file
python -m indexer.servers.table               prints it
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from indexer.errors import UsageError
from indexer.servers.registry import ServerSpec, load_table

BLOCK = re.compile(r"(<!-- servers -->\n).*?(<!-- /servers -->)", re.DOTALL)


def render_table() -> str:
    """Markdown: the servers of each language, its default first; languages with the same servers share their rows."""
    table = load_table()
    sharing: dict[tuple[str, ...], list[str]] = {}
    for language, spec in table.language.items():
        if spec.crawl == "full":
            sharing.setdefault(tuple(spec.servers), []).append(language)
    lines = ["| language | server | how it comes | tested with |", "|---|---|---|---|"]
    for names, languages in sharing.items():
        for name in names:
            server = table.server[name]
            label = ", ".join(languages) if name == names[0] else ""
            lines.append(f"| {label} | {name} | {_how(server)} | {server.tried} |")
    listed = ", ".join(language for language, spec in table.language.items() if spec.crawl == "none")
    return "\n".join(
        [*lines, "", f"Listed by `lspidx query detect` but not crawled, since their servers answer for no code: {listed}.", ""]
    )


def _how(server: ServerSpec) -> str:
    with_us = metadata.requires("lspidx") or []
    if any(package in with_us for package in server.install.get("pip", [])):
        return "with lspidx"
    ways = [f"`lspidx servers install {server.name}` ({' or '.join(server.install)})"] if server.install else []
    return " or ".join([*ways, *filter(None, [server.otherwise])])


def replace_block(text: str) -> str:
    """`text` with the present table between its marks.

    Raises:
        UsageError: it has no such marks.
    """
    if not BLOCK.search(text):
        raise UsageError("no '<!-- servers -->' … '<!-- /servers -->' to write the table between")
    return BLOCK.sub(lambda match: f"{match[1]}{render_table()}{match[2]}", text)


def main(arguments: list[str]) -> None:
    for name in arguments:
        path = Path(name)
        path.write_text(replace_block(path.read_text(encoding="utf-8")), encoding="utf-8")
    if not arguments:
        sys.stdout.write(render_table())


if __name__ == "__main__":
    main(sys.argv[1:])
