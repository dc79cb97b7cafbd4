"""One in a hundred answers of a file of SCIP is asked again, of the language's own server where that is here (ADR 0133)."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from indexer.config import Config
from indexer.crawl.capacity import of_merge
from indexer.crawl.dispatch import Work
from indexer.crawl.handover import GroupsOf
from indexer.crawl.plan.choice import Choice
from indexer.crawl.plan.groups import Group
from indexer.crawl.plan.scip_files import is_file_of_scip
from indexer.crawl.units import PlannedDocument
from indexer.crawl.waves import Found
from indexer.errors import ServerMissing
from indexer.servers.registry import FoundServer
from indexer.store.generations import Home

log = logging.getLogger(__name__)


def wants_check(groups: Sequence[Group], config: Config) -> bool:
    """Whether a file of SCIP is among those that are asked, and answers are asked again at all."""
    return config.cross_check > 0 and any(is_file_of_scip(item.server) for item in groups)


def check_files(
    work: Work, found: Found, groups: Sequence[Group], choice: Choice, group: GroupsOf, home: Home, config: Config
) -> list[dict[str, Any]]:
    """Of each file and server how often they agree, for the manifest; of what this crawl has asked the file.

    Args:
        groups: those of the crawl. group: makes groups of servers and documents.
    """
    from indexer.store.merge.opened import Room
    from indexer.store.merge.sampled import compared, sampled

    shards = [shard for shard in found.shards if shard.is_file()]
    share = of_merge(config, sum(shard.stat().st_size for shard in shards) // 1_000_000)
    room = Room(memory_mb=share.memory_mb, threads=share.threads, spill=home.crawls / "tmp-spill")
    inside = {document.path for item in groups for document in item.documents}
    records: list[dict[str, Any]] = []
    for item in groups:
        if not is_file_of_scip(item.server) or not shards:
            continue
        places = sampled(shards, [document.path for document in item.documents], config.cross_check, room)
        documents = [msgspec.structs.replace(one, places=tuple(places[one.path])) for one in item.documents if one.path in places]
        record: dict[str, Any] = {"file": item.server.spec.name, "version": item.server.version}
        assigned, problems = _assigned(documents, choice)
        records += [record | {"languages": [language], "problem": problem} for language, problem in problems.items()]
        for asked in group(list(assigned.values())):
            begun = time.monotonic()
            said = work.ask(asked, name=f"check-{item.key}-{asked.key}", phase="check")
            result = compared(shards, said.shards, places, inside, room)
            elapsed_s = round(time.monotonic() - begun, 2)
            log.info("file checked: file=%s by=%s elapsed_s=%.2f result=%s", item.key, asked.key, elapsed_s, result)
            records.append(
                record
                | {
                    "languages": asked.languages,
                    "server": asked.server.spec.name,
                    "server_version": asked.server.version or said.version,
                    "checked": result.checked,
                    "disagreed": result.disagreed,
                    "uncompared": result.uncompared,
                    "samples": result.samples,
                    "server_s": round(said.server_s, 2),
                }
                | ({"problem": said.why} if said.why else {})
            )
    return records


def _assigned(
    documents: Sequence[PlannedDocument], choice: Choice
) -> tuple[dict[str, tuple[FoundServer, list[PlannedDocument]]], dict[str, str]]:
    """By name of a server what it is asked about; and by language why nobody is."""
    assigned: dict[str, tuple[FoundServer, list[PlannedDocument]]] = {}
    problems: dict[str, str] = {}
    for language in sorted({document.language for document in documents}):
        try:
            server = choice.first(language)
        except ServerMissing as error:
            problems[language] = str(error)
            continue
        if server is None:
            problems[language] = "no server is to be asked about it"
            continue
        mine = assigned.setdefault(server.spec.name, (server, []))[1]
        mine += [document for document in documents if document.language == language]
    return assigned, problems
