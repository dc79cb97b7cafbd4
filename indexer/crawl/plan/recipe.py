"""What the facts of a crawl depend on, as digests: the same recipe gives the same facts, so nothing is crawled again (ADR 0014)."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import requires, version
from pathlib import Path

from indexer.config import Config
from indexer.crawl.plan.groups import Group
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION
from indexer.workspace import Folder

_DISTRIBUTION = re.compile(r"[\w.-]+")
"""The name at the beginning of a requirement."""

_OF_AN_EXTRA = re.compile(r";.*\bextra\s*==")


def ingredients(config: Config, folders: Sequence[Folder]) -> str:
    """Digest of all that the facts depend on beside the documents themselves and what crawls them."""
    grammars = sorted(f"{name} {version}" for name, version in versions("tree-sitter", "pygments").items())
    parts = [
        f"schema {SCHEMA_VERSION} content {CONTENT_VERSION} code {code_digest()}",
        f"grammars {grammars}",
        f"ask hover={config.hover} diagnostics={config.diagnostics} cross_check={config.cross_check} most={config.max_file_questions}",
        f"depth {config.max_file_depth}",
        f"folders {[(folder.name, folder.prefix) for folder in folders[1:]]}",
        f"readable {_readable(config, folders)}",
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _readable(config: Config, folders: Sequence[Folder]) -> list[str]:
    """Places beyond those that count by themselves: an environment by what it holds, a workspace folder by its files."""
    root = folders[0].path
    counted = {os.path.realpath(folder.path) for folder in folders}
    if config.python:
        python = os.path.join(root, os.path.expanduser(config.python))
        counted |= {os.path.realpath(python), os.path.join(os.path.realpath(os.path.dirname(python)), os.path.basename(python))}
    return [os.path.relpath(path, root) for path in (*config.allowed, *config.readable) if path not in counted]


def recipe_of(item: Group) -> str:
    """Digest of all that the facts of a group depend on beside its documents."""
    return hashlib.sha256("\n".join([f"server {item.server.fingerprint}", *item.ingredients]).encode()).hexdigest()[:32]


@functools.cache
def versions(*names: str) -> dict[str, str]:
    """Versions of the distributions that lspidx needs, by no extra, and that are called so, or begin so.

    Only those are read: each is a file to parse, and an environment may have hundreds of others.
    """
    needed = (_DISTRIBUTION.match(requirement) for requirement in requires("lspidx") or () if not _OF_AN_EXTRA.search(requirement))
    found = {name[0].lower() for name in needed if name is not None and name[0].lower().startswith(names)}
    return {name: version(name) for name in found}


def digest_of(stamps: Mapping[str, object]) -> str:
    return hashlib.sha256(repr(sorted(stamps.items())).encode("utf-8", "surrogateescape")).hexdigest()[:16]


@functools.cache
def code_digest() -> str:
    """Digest of this package's own files: an index made by other code is made anew. A process runs what it began with."""
    package = Path(__file__).resolve().parent.parent.parent
    digest = hashlib.sha256()
    for file in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".sql", ".toml")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
