"""Signature and documentation as stored."""

from __future__ import annotations

import msgspec

from query.answer import Answer, SymbolRecord
from query.completeness import provenance
from query.page import Named, asked
from query.registry import Context, tool


class InspectSymbol(Named, kw_only=True):
    pass


class Inspection(msgspec.Struct, kw_only=True):
    """`signature` as written in the source, `documentation` its docstring, `hover` what the server said of it (Markdown)."""

    symbol: SymbolRecord
    signature: str
    documentation: str
    hover: str


@tool("inspect_symbol", parameters=InspectSymbol, result=Inspection, positional="symbol", example="hover Flask.route")
def TOOL(context: Context, ask: InspectSymbol) -> Answer:
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
