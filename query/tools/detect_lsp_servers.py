"""Languages of a folder, ranked, and the servers that this machine has for them. Needs no index."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from indexer.errors import UsageError
from indexer.servers.detect import MAX_FILES, LanguageScore, list_files, look_for, rank_languages
from indexer.servers.registry import FoundServer, ServerSpec, how_to_get, load_table
from query.answers.envelope import Answer, Reason, completeness_from, unindexed
from query.answers.pages import all_of
from query.answers.style import Style, count, one_line
from query.context import Workspace
from query.surface.registry import workspace_tool


class DetectLspServers(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    workspace_dir: Annotated[str, msgspec.Meta(description="folder to look at; empty: the current one")] = ""


class InstalledServer(msgspec.Struct, kw_only=True):
    """A server that was found. `config_entry` is `language:command,arguments…`; `source` says where: lspidx's own folders or PATH."""

    language: str
    server: str
    path: str
    config_entry: str
    version: str
    source: str


class Detected(msgspec.Struct, kw_only=True):
    """`not_installed`: languages that no server was found for; `how_to_get` has a command for each of them."""

    workspace_dir: str
    workspace_languages: list[str]
    installed_servers: list[InstalledServer]
    suggested_config: list[str]
    not_installed: list[str]
    how_to_get: dict[str, str]
    scores: list[LanguageScore]


def _text(answer: Answer[Detected], style: Style) -> Iterator[str]:
    found = answer.result
    servers = {server.language: server for server in found.installed_servers}
    for score in found.scores:
        why = ", ".join([count(score.files, "file"), *score.markers])
        yield f"{style.strong(score.language)}  {style.dim(f'{score.score}: {one_line(why)}')}"
        server = servers.get(score.language)
        if server:
            yield f"  {server.server} {server.version}  {style.path(server.path)} ({server.source})"
        else:
            yield f"  {style.warning('no server')}; to get one: {found.how_to_get[score.language]}"


@workspace_tool(
    "detect_lsp_servers",
    parameters=DetectLspServers,
    result=Detected,
    positional="workspace_dir",
    needs="",
    example="detect .",
    task="index",
    hint="languages of a repository installed missing setup",
    text=_text,
)
def TOOL(workspace: Workspace, ask: DetectLspServers) -> Answer[Detected]:
    """Languages of a folder, ranked by their files and project markers, and the language servers that are installed for them."""
    folder = _folder(workspace.root, ask.workspace_dir)
    paths, cut = list_files(folder)
    scores = rank_languages(paths)
    table = load_table()
    candidates = {item.language: table.language[item.language].servers for item in scores}
    looked = look_for((name for names in candidates.values() for name in names), [str(workspace.root)])
    installed: list[InstalledServer] = []
    missing: dict[str, str] = {}
    for language, names in candidates.items():
        found = next((server for name in names if isinstance(server := looked[name], FoundServer)), None)
        if found is None:
            missing[language] = how_to_get(table.server[names[0]])
        else:
            installed.append(
                InstalledServer(
                    language=language,
                    server=found.spec.name,
                    path=found.command[0],
                    config_entry=f"{language}:{','.join(_plain_command(found.spec))}",
                    version=found.version,
                    source=found.source,
                )
            )
    reasons = [Reason(code="scan_cut", detail=f"the folder has more than {MAX_FILES} files; the rest was not looked at")] if cut else []
    return workspace.answer(
        ask,
        Detected(
            workspace_dir=str(folder),
            workspace_languages=list(candidates),
            installed_servers=installed,
            suggested_config=[server.config_entry for server in installed],
            not_installed=list(missing),
            how_to_get=missing,
            scores=scores,
        ),
        all_of(len(scores)),
        completeness_from(reasons),
        unindexed(sorted({f"{server.server} {server.version}" for server in installed})),
    )


def _folder(root: Path, text: str) -> Path:
    if text.startswith(("\\\\", "//")) or "\0" in text:
        raise UsageError(f"'{text}' is no folder of this machine")
    folder = Path(os.path.abspath(root / text))
    if not folder.is_dir():
        raise UsageError(f"'{text or root}' is not a folder")
    return folder


def _plain_command(spec: ServerSpec) -> list[str]:
    """The command without words that a crawl fills in, nor the switch before them."""
    words: list[str] = []
    for word in spec.command:
        if "{" not in word:
            words.append(word)
        elif word.startswith("{") and words[-1].startswith("-"):
            words.pop()
    return words
