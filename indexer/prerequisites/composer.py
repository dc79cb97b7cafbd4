"""PHP: the packages that composer.json requires, which only Composer installs."""

from __future__ import annotations

import os

from indexer import composer
from indexer.languages import PHP
from indexer.prerequisites import Look, Prerequisite, Step
from indexer.private_places import is_held

_NAMED = 3
_ASIDE = frozenset({"fixtures", "tests", "test", "examples", "vendor"})


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    found: list[Prerequisite] = []
    for path in sorted(path for path in look.paths if os.path.basename(path) == composer.MANIFEST):
        folder = os.path.dirname(path)
        if _ASIDE & {part.lower() for part in folder.split("/")} or not is_held(str(look.root), path):
            continue
        manifest = look.root / path
        vendor = os.path.join(folder, composer.vendor_folder(manifest))
        there = composer.installed(str(look.root / vendor)) if is_held(str(look.root), os.path.join(vendor, "composer")) else {}
        lacking = [name for name in composer.required(manifest) if name.lower() not in there]
        if lacking:
            named = ", ".join(lacking[:_NAMED]) + (", …" if len(lacking) > _NAMED else "")
            detail = f"{len(lacking)} packages that {path} requires are not in {vendor} ({named})"
            remedy = "composer install --no-scripts --no-plugins" + (f" --working-dir={folder}" if folder else "")
            found.append(Prerequisite(language=PHP.name, name="packages", detail=detail, remedy=remedy))
    return found[:_NAMED]


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`: none, since no registry that lspidx knows has Composer."""
    del look
    return []
