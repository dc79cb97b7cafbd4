"""The server that is asked what others leave open, if there is to be one (ADR 0108)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from indexer.config import Config, LanguageConfig, overlay
from indexer.crawl.plan.choice import find_spec_languages
from indexer.crawl.plan.groups import Group, group
from indexer.errors import ServerMissing
from indexer.servers.registry import server_spec
from indexer.workspace import Folder


def second_group(
    first: Sequence[Group], folders: Sequence[Folder], paths: Sequence[str], config: Config, environment: Mapping[str, str]
) -> Group | str | None:
    """The second server with all documents that it may be asked about; why there is none; None where none is wanted, or has any work.

    Args:
        first: the groups of the first servers. paths, environment: as `group` has them.
    Raises:
        ConfigError: no server has this name.
    """
    if not config.second:
        return None
    server_spec(config.second)
    languages = find_spec_languages(config.second)
    described = {item.path: item for member in first if member.server.command for item in member.documents if item.language in languages}
    if not described:
        return None
    names = {member.server.spec.name for member in first if described.keys() & {item.path for item in member.documents}}
    if config.second in names:
        return f"'{config.second}' is the first server already, so it is not asked a second time"
    own = {language: LanguageConfig(server=config.second) for language in config.language}  # what is said of one server is not for another
    try:
        found = group(folders, paths, list(described.values()), replace(config, server=config.second, language=own), environment)
    except ServerMissing as error:
        return f"no second server: {error}"
    made = next((member for member in found.groups if member.server.command), None)
    if made is None:
        return None
    server, spec = made.server, made.server.spec
    spec = msgspec.structs.replace(
        spec,
        command=[*spec.command, *spec.second.arguments],
        options=overlay(spec.options, spec.second.options),
        settings=overlay(spec.settings, spec.second.settings),
        diagnostics="none",
        hierarchy="none",
        stays=False,
    )
    server = msgspec.structs.replace(server, spec=spec, command=[*server.command, *spec.second.arguments])
    return replace(made, server=server, documents=[described[item.path] for item in made.documents])
