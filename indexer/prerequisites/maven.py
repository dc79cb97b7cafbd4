"""Java: the archives that pom.xml and build.gradle name."""

from __future__ import annotations

import os
from collections.abc import Iterator

from indexer.jvm import fetched as brought
from indexer.jvm.poms import MANIFESTS, Wanted
from indexer.languages import JAVA
from indexer.prerequisites import Look, Prerequisite, Step

_NAMED = 3
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    needs = brought.needs(look.root, look.paths, look.fetched)
    lacking = brought.missing(needs, brought.projects_folder(look.fetched_here))
    if not lacking:
        return [] if needs else list(_unread_scripts(look))
    names = sorted({item.name for one in lacking for item in one.dependencies})
    shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    detail = f"{len(names)} {'dependency is' if len(names) == 1 else 'dependencies are'} not on the class path ({shown})"
    return [Prerequisite(language=JAVA.name, name="class path", detail=detail, remedy="lspidx index --fetch", can_fetch=True)]


def _unread_scripts(look: Look) -> Iterator[Prerequisite]:
    """Builds of which nothing can be read without running them."""
    scripts = sorted(path for path in look.paths if os.path.basename(path) in MANIFESTS[1:])
    if scripts:
        detail = f"what {scripts[0]} depends on is not known, since Gradle is not run and no coordinates stand in it or in a catalog"
        remedy = "a pom.xml beside it that names the dependencies, then lspidx index --fetch"
        yield Prerequisite(language=JAVA.name, name="class path", detail=detail, remedy=remedy)


def steps(look: Look) -> Iterator[Step]:
    """See `BuildTool.steps`.

    Maven runs one plugin of its own, over projects that lspidx has written. Where a version is a property of a parent from a registry,
    it is known once that parent is there, so the second step is the first one again with what that tells.
    """
    place = brought.projects_folder(look.fetched_here)
    done: list[Wanted] = []
    for _ in range(2):
        needs = brought.needs(look.root, look.paths, look.fetched)
        if needs == done or not brought.missing(needs, place):
            return
        done = needs
        yield _step(look, needs)


def _step(look: Look, needs: list[Wanted]) -> Step:
    place, archives = brought.projects_folder(look.fetched_here), brought.archives_folder(look.fetched)
    switches = ["--batch-mode", "--quiet", "--fail-at-end", "--strict-checksums", f"-Dmaven.repo.local={archives}"]
    files = {str(place / path): text for path, text in brought.texts(needs).items()}
    return Step(
        language=JAVA.name,
        command=["mvn", *switches, f"{_PLUGIN}:build-classpath", f"-Dmdep.outputFile={brought.LISTED}"],
        cwd=place,
        environment={**look.environment, "MAVEN_OPTS": "-Xmx512m", "MAVEN_ARGS": ""},
        writes=[place, archives, *dict.fromkeys(place / os.path.dirname(path) for path in brought.texts(needs))],
        files=files,
        without=[name for one in needs for name in one.unknown],
        timeout_s=1_200.0,
    )
