"""Documentation of a symbol, here or in a dependency, as stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from query.answer import Answer, Reason, SymbolRecord
from query.completeness import languages_of, provenance
from query.page import Named, asked
from query.registry import Context, tool
from query.style import Style, printable


class GetSymbolDocumentation(Named, kw_only=True):
    language_id: Annotated[str, msgspec.Meta(description="only symbols of this language, e.g. go, rust, python; any by default")] = ""
    format: Annotated[Literal["text", "markdown"], msgspec.Meta(description="markdown: the signature in a fenced code block")] = "text"


class Documentation(msgspec.Struct, kw_only=True):
    """`doc` is what the source says of the symbol, `signature` how it is declared.

    source: `documentation` (the comment or docstring), `hover` (only the server's hover text had it), `none` (nothing is stored;
    `error` says what to do).
    """

    symbol: SymbolRecord
    language: str
    source: Literal["documentation", "hover", "none"]
    doc: str
    signature: str
    error: str = ""


def _text(answer: Answer[Documentation], style: Style) -> Iterator[str]:
    item = answer.result
    yield f"{style.symbol(item.symbol)}  {style.dim(f'[{item.source}]')}"
    for text in (item.signature, item.doc, item.error):
        if text:
            yield ""
            yield from (printable(line) for line in text.split("\n"))


@tool(
    "get_symbol_documentation",
    parameters=GetSymbolDocumentation,
    result=Documentation,
    positional="symbol",
    example="get_symbol_documentation resolve_url",
    task="read",
    hint="docs docstring manual comment of a function also of dependencies",
    text=_text,
)
def TOOL(context: Context, ask: GetSymbolDocumentation) -> Answer[Documentation]:
    """Documentation and signature of a symbol of the workspace or of a dependency, as stored when the index was made."""
    index = context.index
    symbol = ask.resolve(index)
    path = symbol.record.path
    language = languages_of(index).get(path, "")
    row = index.row("SELECT signature, documentation, hover FROM symbol_text WHERE sym_id = ?", [symbol.sym_id])
    signature, documentation, hover = row or ("", "", "")
    doc, source = (documentation, "documentation") if documentation else (_prose(hover), "hover") if _prose(hover) else ("", "none")
    signature = signature or _code(hover)
    more: list[Reason] = []
    if ask.language_id and language and ask.language_id.lower() != language:
        detail = f"'{symbol.record.qualified_name}' is a symbol of {language}, not of {ask.language_id}"
        more.append(Reason(code="other_language", detail=detail, count=1, paths=[path]))
    error = "" if source != "none" else _remedy(symbol.record.qualified_name, language, external=symbol.record.external)
    result = Documentation(
        symbol=symbol.record,
        language=language,
        source=source,  # pyright: ignore[reportArgumentType]
        doc=doc,
        signature=f"```{language}\n{signature}\n```" if ask.format == "markdown" and signature else signature,
        error=error,
    )
    return Answer(
        tool="get_symbol_documentation",
        query=asked(ask, symbol),
        result=result,
        total=int(source != "none"),
        truncated=False,
        completeness=context.certificate.of_documents([path, *ask.document(index)], ["syntax", "textDocument/hover"], more),
        provenance=provenance(index, path),
    )


def _prose(hover: str) -> str:
    """What a hover text says beyond its code block."""
    return hover.partition("```")[2].partition("\n```")[2].strip(" \n-") if hover.startswith("```") else ""


def _code(hover: str) -> str:
    """The first code block of a hover text."""
    return hover.partition("```")[2].partition("\n")[2].partition("\n```")[0].strip()


_TOOLCHAIN = {"python": "python -m pydoc", "go": "go doc", "rust": "cargo doc --open; then look for"}


def _remedy(name: str, language: str, *, external: bool) -> str:
    known = _TOOLCHAIN.get(language)
    where = "the crawl stores no text of what lies outside the workspace but signatures" if external else "its source says nothing of it"
    return f"no documentation is stored: {where}" + (f"; to look further: {known} {name}" if known and external else "")
