"""Signature and documentation as stored."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answer import Answer, SymbolRecord
from query.completeness import provenance
from query.page import Named, asked
from query.registry import Context, tool
from query.style import Style, printable


class InspectSymbol(Named, kw_only=True):
    pass


class Inspection(msgspec.Struct, kw_only=True):
    """`signature` as written in the source, `documentation` its docstring, `hover` what the server said of it (Markdown)."""

    symbol: SymbolRecord
    signature: str
    documentation: str
    hover: str


def _text(answer: Answer[Inspection], style: Style) -> Iterator[str]:
    item = answer.result
    yield style.symbol(item.symbol)
    for text in (item.signature, item.documentation, item.hover):
        if text:
            yield ""
            yield from (printable(line) for line in text.split("\n"))


@tool(
    "inspect_symbol",
    parameters=InspectSymbol,
    result=Inspection,
    positional="symbol",
    example="hover resolve_url",
    task="read",
    hint="hover type signature documentation",
    text=_text,
)
def TOOL(context: Context, ask: InspectSymbol) -> Answer[Inspection]:
    """Signature, documentation and the server's hover text of a symbol, as indexed."""
    index = context.index
    symbol = ask.resolve(index)
    row = index.row("SELECT signature, documentation, hover FROM symbol_text WHERE sym_id = ?", [symbol.sym_id])
    signature, documentation, hover = row or ("", "", "")
    return Answer(
        tool="inspect_symbol",
        query=asked(ask, symbol),
        result=Inspection(symbol=symbol.record, signature=signature, documentation=documentation, hover=hover),
        total=1,
        truncated=False,
        completeness=context.certificate.of_documents([symbol.record.path, *ask.document(index)], ["syntax", "textDocument/hover"]),
        provenance=provenance(index, symbol.record.path),
    )
