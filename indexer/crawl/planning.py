"""What there is to crawl, by which servers, and what the result depends on."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexer import prerequisites, project_files, vcs
from indexer.config import Config, why_withheld
from indexer.consent import Refusal, told
from indexer.crawl.capacity import processors, worker_count
from indexer.crawl.dispatch import Watcher
from indexer.crawl.kept import Basis, Kept
from indexer.crawl.plan import outside
from indexer.crawl.plan.choice import Taken
from indexer.crawl.plan.contents import Contents
from indexer.crawl.plan.groups import Group, group
from indexer.crawl.plan.losses import without_server
from indexer.crawl.plan.recipe import digest_of, ingredients, recipe_of
from indexer.crawl.plan.second import second_group
from indexer.crawl.plan.survey import Survey, of_folder, recipe_digest, survey, together
from indexer.crawl.pool import Pool
from indexer.crawl.sources import size_of, stamps_of
from indexer.crawl.waves import Tree
from indexer.model import BORDERS
from indexer.prerequisites.fetch import fetch
from indexer.private_places import is_held
from indexer.servers.grants import reach_of
from indexer.servers.pointers import refused_pointers
from indexer.servers.registry import language_of, load_table
from indexer.store.states import describe
from indexer.workspace import Folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What lies in a workspace. paths: all of its files, relative to the root."""

    paths: Sequence[str]
    seen: Survey
    prerequisites: Sequence[prerequisites.Prerequisite]
    checkouts: Sequence[vcs.Checkout]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What there is to crawl, and what the result depends on.

    seen: what lies in the workspace. recipes: by key of the group. left_out: size and time of what is not crawled.
    common, recipe: digests of what all facts depend on, and of the whole input. surroundings: what the index depends on beside that.
    second: as `second_group` gives it. taken: documents that go to another server, since their own has lost them.
    refused: places outside of the workspace that are not looked at.
    """

    root: Path
    looked: Looked
    seen: Survey
    groups: Sequence[Group]
    recipes: Mapping[str, str]
    left_out: Mapping[str, str]
    common: str
    recipe: str
    surroundings: list[object]
    missing_servers: Mapping[str, str]
    second: Group | str | None
    taken: Mapping[str, Taken]
    refused: Sequence[Refusal]
    notes: Sequence[str]
    """What a user should know of who is asked."""

    @property
    def basis(self) -> Basis:
        """What servers are started for."""
        documents = [item for member in self.groups for item in member.documents]
        return Basis(
            recipes=[self.recipes[member.key] for member in self.groups],
            documents={item.path: f"{item.digest} {self.seen.stamps.get(item.path)}" for item in documents},
            times={item.path: stamp.mtime_ns for item in documents if (stamp := self.seen.stamps.get(item.path)) is not None},
            told=frozenset(item.path for item in documents if item.encoding),
            others={**self.left_out, "": self.common},
        )

    @functools.cached_property
    def tree(self) -> Tree:
        """The same for the workers; not made where there is nothing to do."""
        return Tree(
            groups=self.groups,
            described={
                item.path: describe(item.header(""), self.recipes[member.key]) for member in self.groups for item in member.documents
            },
            recipes=self.recipes,
            left_out=self.left_out,
            unread=outside.unread(str(self.root), self.seen.skipped),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Plans the crawl of a workspace. `environment`: the caller's. `kept`: of a process that crawls it again and again."""

    root: Path
    folders: Sequence[Folder]
    config: Config
    environment: Mapping[str, str]
    watcher: Watcher
    kept: Kept | None

    def look(self, pool: Pool, *, will_crawl: bool) -> Looked:
        """All files of the workspace, and what of them may be crawled.

        Args:
            will_crawl: workers are started before the files are read: they need 0.2 s until they can take a unit.
        """
        languages = {name for name, spec in load_table().language.items() if spec.crawl == "full"}
        paths: list[str] = []
        surveys: list[Survey] = []
        contents = self.kept.contents if self.kept is not None else Contents()
        contents.begin()
        for folder in self.folders:
            listed = vcs.list_files(folder.path, self.config.include)
            paths += [folder.prefix + path for path in listed if is_held(str(folder.path), path)]  # manifests are read by this list
            if folder is self.folders[0] and will_crawl:
                size_bytes = sum(size_of(folder.path / path) for path in listed if language_of(path) in languages)
                pool.resize(worker_count(self.config, processors(), size_bytes) if size_bytes else 0)
            surveys.append(of_folder(survey(folder.path, listed, self.config, languages=languages, contents=contents), folder.prefix))
        seen = together(surveys)
        missing = self._prerequisites(paths, seen)
        return Looked(paths=paths, seen=seen, prerequisites=missing, checkouts=[vcs.checkout(folder.path) for folder in self.folders])

    def plan(self, looked: Looked, taken: Mapping[str, Taken]) -> Plan:
        """Which servers are asked about which documents.

        Args:
            taken: documents that another server than their own has answered for.
        Raises:
            ServerMissing: there are documents, and no language of theirs has a server here. ConfigError, UsageError.
        """
        config, folders, paths = self.config, self.folders, looked.paths
        grouping = group(folders, paths, looked.seen.documents, config, self.environment, taken)
        groups = grouping.groups
        documents = [document for item in groups for document in item.documents]
        seen = replace(
            looked.seen,
            documents=documents,
            skipped=sorted([*looked.seen.skipped, *grouping.skipped], key=lambda item: item.path),
            project_files=project_files.digests(self.root, paths, {item.language for item in documents}),
        )
        refused = [*config.refused, *self._pointers(paths, groups)]
        common = ingredients(config, folders)
        second = second_group(groups, folders, paths, config, self.environment)
        recipes = {item.key: recipe_of(item) for item in groups}
        left_out = stamps_of(self.root, [item.path for item in seen.skipped if item.reason not in BORDERS])
        surroundings: list[object] = [value for checkout in looked.checkouts for value in (checkout.commit, checkout.dirty)]
        surroundings += [digest_of(seen.stamps), digest_of(seen.folders), digest_of(left_out), str(sorted(seen.left_out.items()))]
        surroundings += [refusal.sentence for refusal in told(refused)]
        recipe = recipe_digest(
            documents,
            [
                common,
                str(sorted(recipes.items())),
                f"skipped {[(item.path, str(item.reason)) for item in seen.skipped]}",
                f"second {recipe_of(second) if isinstance(second, Group) else second}",
            ],
        )
        served = {document.path: item.server.spec.name for item in groups for document in item.documents}
        return Plan(
            root=self.root,
            looked=looked,
            seen=seen,
            groups=groups,
            recipes=recipes,
            left_out=left_out,
            common=common,
            recipe=recipe,
            surroundings=surroundings,
            missing_servers=grouping.missing,
            second=second,
            taken={path: entry for path, entry in taken.items() if served.get(path) == entry.server},
            refused=refused,
            notes=grouping.notes,
        )

    def say(self, plan: Plan) -> None:
        """Tells who watches what a user should know of a plan."""
        note, languages = self.watcher.note, [item.language for item in plan.looked.seen.documents]
        for text in [*without_server(plan.missing_servers, languages), *plan.notes]:
            note(text)
        for refusal in told(plan.refused):
            note(f"{refusal.sentence}{f'; to allow that: {refusal.remedy}' if refusal.remedy else ''}")
        for setting in self.config.withheld:
            note(f"{setting} is not followed: {why_withheld(setting)}")
        if isinstance(plan.second, str):
            note(plan.second)

    def _pointers(self, paths: Sequence[str], groups: Sequence[Group]) -> list[Refusal]:
        """The places outside to which the workspace's files point, and that servers are not given to read."""
        folders = [folder.path for folder in self.folders]
        prefix = next((str(item.placeholders["python_prefix"]) for item in groups if item.placeholders.get("python_prefix")), "")
        return refused_pointers(folders, paths, reach_of(self.root, self.config, folders, self.environment), prefix)

    def _prerequisites(self, paths: Sequence[str], seen: Survey) -> list[prerequisites.Prerequisite]:
        """What the clone lacks; where the user wants that (`fetch`), after the download steps of its build tools."""
        look = prerequisites.Look(
            root=self.root,
            paths=paths,
            languages=frozenset(item.language for item in seen.documents),
            environment=self.environment,
            fetched=prerequisites.fetched_dir(self.environment),
            python=self.config.python,
            may_read=reach_of(self.root, self.config, [item.path for item in self.folders], self.environment).may_read,
        )
        if self.config.fetch:
            self.watcher.phase("fetch", 0)
            avoid = [str(item.path) for item in self.folders]
            fetch(prerequisites.steps(look), self.config.trust, avoid=avoid, say=self.watcher.note, most_s=self.config.max_fetch_s)
        return prerequisites.find(look)
