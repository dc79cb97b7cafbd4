"""Documentation of a symbol, here or in a dependency: as stored, else from the language's own toolchain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from indexer.errors import AmbiguousName, NameNotFound, UsageError
from indexer.languages import RUST, names_of
from query.answers.envelope import Answer, Reason, SymbolRecord, completeness_from, unindexed
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context, Workspace
from query.facts.families import languages_of
from query.facts.index import Index
from query.facts.names import document_path
from query.facts.parameters import Named
from query.facts.texts import text_of
from query.surface.registry import tool

if TYPE_CHECKING:
    from query.toolchain.documentation import Described

_DOCUMENTED = names_of(lambda rules: bool(rules.documented_by))
"""By toolchains, see query.toolchain.documentation, which is loaded only where one is asked."""


class GetSymbolDocumentation(Named, kw_only=True):
    language_id: Annotated[str, msgspec.Meta(description="only symbols of this language, e.g. go, rust, python; any by default")] = ""
    source: Annotated[
        Literal["auto", "index", "toolchain"],
        msgspec.Meta(
            description="auto: a qualified name that the index does not know is looked up by go doc, pydoc (of the machine's Python) or in "
            "the pages of rustdoc; toolchain: at once, for Python in the project's own environment; pydoc imports the module"
        ),
    ] = "auto"
    format: Annotated[Literal["text", "markdown"], msgspec.Meta(description="markdown: the signature in a fenced code block")] = "text"


class Documentation(msgspec.Struct, kw_only=True):
    """`doc` is what the source says of the symbol, `signature` how it is declared.

    source: `documentation` (the comment or docstring), `hover` (only the server's hover text had it), `none` (nothing is stored;
    `error` says what to do), `toolchain` (go doc, pydoc or rustdoc), `error` (the toolchain says nothing of it; `error` says why).
    """

    symbol: SymbolRecord
    language: str
    source: Literal["documentation", "hover", "none", "toolchain", "error"]
    doc: str
    signature: str
    error: str = ""


def _text(answer: Answer[Documentation], style: Style) -> Iterator[str]:
    item = answer.result
    head = style.symbol(item.symbol) if item.symbol.path else style.strong(item.symbol.qualified_name)
    yield f"{head}  {style.dim(f'[{item.source}]')}"
    for text in (item.signature, item.doc, item.error):
        if text:
            yield ""
            yield from style.prose(text)


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
    """Documentation and signature of a symbol of the workspace or a dependency: as stored, else by go doc, pydoc or rustdoc's pages."""
    index = context.index
    if ask.source == "toolchain":
        return _answered(context.workspace, ask, _by_toolchain(index, ask))
    try:
        symbol = ask.resolve(index)
    except AmbiguousName:
        raise
    except NameNotFound as error:
        if ask.source == "index" or not _QUALIFIED.search(ask.symbol) or ask.line or ask.position_pattern:
            raise
        found = _by_toolchain(index, ask)
        if found.error:
            raise NameNotFound(f"{error}; {found.tool or 'the toolchain'}: {found.error.splitlines()[0]}") from error
        return _answered(context.workspace, ask, found)
    path = symbol.record.path
    language = languages_of(index).get(path, "")
    signature, documentation, hover = text_of(index, symbol.sym_id)
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
        signature=_fenced(signature, language, ask.format),
        error=error,
    )
    return context.answer(
        ask,
        result,
        all_of(int(source != "none")),
        context.certificate.of_documents([path, *ask.document(index)], ["syntax", "textDocument/hover"], more),
        meant=symbol,
        about=path,
    )


def _prose(hover: str) -> str:
    """What a hover text says beyond its code block."""
    return hover.partition("```")[2].partition("\n```")[2].strip(" \n-") if hover.startswith("```") else ""


def _code(hover: str) -> str:
    """The first code block of a hover text."""
    return hover.partition("```")[2].partition("\n")[2].partition("\n```")[0].strip()


def _remedy(name: str, language: str, *, external: bool) -> str:
    where = "the crawl stores no text of what lies outside the workspace but signatures" if external else "its source says nothing of it"
    further = f"; to look further: lspidx query get_symbol_documentation {name} --source toolchain" if language in _DOCUMENTED else ""
    return f"no documentation is stored: {where}" + (further if external else "")


# ---- by the toolchain


_QUALIFIED = re.compile(r"\w(?:\.|::)\w")


def _by_toolchain(index: Index, ask: GetSymbolDocumentation) -> Described:
    """What the first of the fitting toolchains says; what they all say against it where none knows the name.

    Raises:
        UsageError: no name.
    """
    from query.toolchain.documentation import describe

    if not ask.symbol:
        raise UsageError("name a symbol as its language qualifies it, such as fmt.Println, json.dumps, std::vec::Vec")
    path = document_path(index, ask.file_path) if ask.file_path else ""
    known = languages_of(index)
    language = ask.language_id.lower() or known.get(path, "")
    if language:
        wanted = [language]
    elif "::" in ask.symbol:
        wanted = [RUST.name]
    else:
        spoken, others = set(known.values()), [item for item in _DOCUMENTED if item != RUST.name]
        wanted = [item for item in others if item in spoken] or others
    said: list[Described] = []
    for item in wanted:
        folder = (index.root / path).parent if path else index.root
        said.append(describe(item, ask.symbol, root=index.root, folder=folder, own_environment=ask.source == "toolchain"))
        if not said[-1].error:
            return said[-1]
    error = said[0].error if len(said) == 1 else "; ".join(f"{item.language}: {item.error.splitlines()[0]}" for item in said)
    return msgspec.structs.replace(said[0], error=error, elapsed_ms=sum(item.elapsed_ms for item in said))


def _answered(workspace: Workspace, ask: GetSymbolDocumentation, found: Described) -> Answer[Documentation]:
    reasons = [Reason(code="toolchain", detail=found.error)] if found.error else []
    if found.cut:
        reasons.append(Reason(code="text_cut", detail="the documentation is longer than what is kept of it"))
    name = re.split(r"::|[./]", ask.symbol)[-1]
    return workspace.answer(
        ask,
        Documentation(
            symbol=SymbolRecord(symbol=ask.symbol, name=name, qualified_name=ask.symbol, kind="symbol", path="", external=True),
            language=found.language,
            source="error" if found.error else "toolchain",
            doc=found.doc,
            signature=_fenced(found.signature, found.language, ask.format),
            error=found.error,
        ),
        all_of(int(not found.error), cut_short=found.cut),
        completeness_from(reasons),
        unindexed([found.tool] if found.tool else [], found.elapsed_ms),
    )


def _fenced(signature: str, language: str, form: str) -> str:
    return f"```{language}\n{signature}\n```" if form == "markdown" and signature else signature
