"""Which live tool works with which server, as the tests have found it by asking real servers; and the table that is made of it."""

from __future__ import annotations

from pathlib import Path

import msgspec

DATA = Path(__file__).parent.with_name("doc") / "live.json"
DOCUMENT = Path(__file__).parent.with_name("doc") / "live.md"

_INTRODUCTION = """# What running servers can do

Made by `python -m query.surface.generate` from what the tests have found by asking these servers about small sources; do not edit.

yes: it was asked and had an answer. no: the server has no such feature; the tool then says so, with what to do instead, and its answer is
`unknown`. Another server, or another version, may do more: `lspidx query get_server_capabilities --live` tells of the one that runs here.
"""


class Matrix(msgspec.Struct, kw_only=True):
    """One server. `works`: by tool, `yes` or the code of the reason why not."""

    server: str
    works: dict[str, str]


def load_matrix() -> dict[str, Matrix]:
    """The records of all servers, by language."""
    return msgspec.json.decode(DATA.read_bytes(), type=dict[str, Matrix]) if DATA.is_file() else {}


def document() -> str:
    """The text of `query/doc/live.md`."""
    matrix = load_matrix()
    tools = list(dict.fromkeys(tool for found in matrix.values() for tool in found.works))
    rows = [f"| `{tool}` | {' | '.join(_shown(found.works.get(tool, '')) for found in matrix.values())} |" for tool in tools]
    head = f"| tool | {' | '.join(f'{language}: {found.server}' for language, found in matrix.items())} |"
    return "\n".join([_INTRODUCTION, head, "|---" * (len(matrix) + 1) + "|", *rows, ""])


def _shown(works: str) -> str:
    return "no" if works == "method_unsupported" else works.replace("_", " ")
