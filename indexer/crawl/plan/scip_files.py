"""Files of SCIP in the place of language servers: which languages each serves, and how it is asked.

A file is asked by `indexer.scip.server`, which is a language server to whoever asks: it is confined, bounded and counted as any other.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import indexer
from indexer.config import Config
from indexer.errors import UsageError
from indexer.scip.look import Looked, look
from indexer.scip.misfits import misfits
from indexer.scip.reader import Refused
from indexer.servers.registry import FoundServer, ServerSpec, language_of, load_table

_SIGNS = re.compile(r"[^a-z0-9+]+")
_MOST_NAME = 40
_MEMORY_MB = 2_000
_TIMEOUT_S = 300
_DIGITS = 10


def servers_of(config: Config, root: Path, languages: Collection[str]) -> Mapping[str, FoundServer]:
    """By language the server that answers from a file of SCIP, of those that the files hold.

    Args:
        languages: of the workspace's documents.
    Raises:
        UsageError: a file is none of SCIP, two hold the same language, or one holds none of the workspace's.
    """
    found: dict[str, FoundServer] = {}
    for entry in config.scip:
        wanted, _, text = entry.rpartition("=")
        file = Path(os.path.abspath(root / os.path.expanduser(text)))
        if wanted and wanted not in load_table().language:
            raise UsageError(f"--scip: no language is called '{wanted}'; known: {', '.join(load_table().language)}")
        said = _looked(file)
        holds = frozenset(filter(None, map(language_of, said.endings)))
        serves = sorted(language for language in languages if (language == wanted if wanted else language in holds))
        if not serves:
            raise UsageError(f"'{file}' holds no file of a language that is here; its files end like {', '.join(said.endings[:5]) or '?'}")
        server = _server(file, root, said, serves, {item.spec.name for item in found.values()})
        for language in serves:
            if language in found:
                raise UsageError(f"two files of SCIP hold {language}; say which is for which: --scip FILE={language}")
            found[language] = server
    return found


def unanswered(server: FoundServer, root: Path, paths: Sequence[str]) -> frozenset[str]:
    """Those of the paths that a server's file of SCIP does not answer for."""
    try:
        return frozenset(misfits(Path(server.command[4]), root, paths))
    except (Refused, OSError) as error:
        raise UsageError(f"'{server.command[4]}' cannot be held against the workspace: {error}") from error


def is_file_of_scip(server: FoundServer) -> bool:
    """Whether it answers from a file that somebody has handed over."""
    return server.spec.fixed and not server.spec.module


def _looked(file: Path) -> Looked:
    try:
        stamp = file.stat()
        return _look(file, stamp.st_mtime_ns, stamp.st_size)
    except OSError as error:
        raise UsageError(f"'{file}' cannot be read: {error.strerror}") from error
    except Refused as error:
        raise UsageError(f"'{file}' is no file of SCIP that can be read: {error}") from error


@lru_cache(maxsize=8)
def _look(file: Path, _mtime_ns: int, _size: int) -> Looked:
    return look(file)


def _server(file: Path, root: Path, said: Looked, languages: list[str], taken: Collection[str]) -> FoundServer:
    name = _SIGNS.sub("-", said.name.lower())[:_MOST_NAME].strip("-") or "scip"
    while name in taken or name in load_table().server or name == "none":
        name += "-scip"
    spec = ServerSpec(
        languages=languages,
        command=["scip"],
        version_command=[],
        fixed=True,
        split=False,
        open="none",
        window=64,
        ready="initialized",
        hierarchy="every_item",
        timeout_s=_TIMEOUT_S,
        memory_mb=_MEMORY_MB,
        diagnostics="none",
        lacks=[],
        tried="",
        name=name,
    )
    return FoundServer(
        spec=spec,
        command=[sys.executable, "-I", "-m", "indexer.scip.server", str(file), str(root)],
        version=f"{said.version or 'unknown'} (SCIP {said.digest[:_DIGITS]})",
        source="a file of SCIP",
    )


def readable_of(server: FoundServer) -> list[str]:
    """What a server of ours has to read beside the workspace and its interpreter: our own code, and its file."""
    own = str(Path(indexer.__file__).resolve().parent.parent)
    if server.spec.module:
        return [own]
    return [own, server.command[4]] if is_file_of_scip(server) else []
