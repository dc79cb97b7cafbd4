"""Which settings of git can start a program or reach the network, and what stands in their place. Pure: no IO (ADR 0024).

Git reads them from `.git/config` and what that includes, so whoever made a repository chooses them. Settings of the command line go
before all files; those whose names are the author's choice (`filter.ANY.clean`) are found in git's own listing, each by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

Pair = tuple[str, str]


class Setting(NamedTuple):
    """One entry of git's listing. `scope`: `system`, `global`, `local`, `worktree` or `command`; a key alone has the value `true`."""

    scope: str
    key: str
    value: str


OF_REPOSITORY = ("local", "worktree")
"""Scopes that whoever made the repository writes; the others are the user's."""

_HARMLESS_PROGRAM = "false"

FIXED: tuple[Pair, ...] = (
    ("core.fsmonitor", "false"),
    ("core.useBuiltinFSMonitor", "false"),  # its name before git 2.36
    ("core.hooksPath", "/dev/null"),
    ("core.sshCommand", _HARMLESS_PROGRAM),
    ("core.gitProxy", "none"),
    ("core.askPass", _HARMLESS_PROGRAM),
    ("core.pager", "cat"),
    ("core.editor", _HARMLESS_PROGRAM),
    ("sequence.editor", _HARMLESS_PROGRAM),
    ("core.alternateRefsCommand", _HARMLESS_PROGRAM),
    ("credential.helper", ""),  # an empty value empties the list
    ("gpg.program", _HARMLESS_PROGRAM),
    ("gpg.ssh.defaultKeyCommand", _HARMLESS_PROGRAM),
    ("log.showSignature", "false"),
    ("log.mailmap", "false"),
    ("diff.external", _HARMLESS_PROGRAM),  # and never asked: --no-ext-diff
    ("diff.orderFile", "/dev/null"),  # a list that is read to its end, whatever it is
    ("uploadpack.packObjectsHook", _HARMLESS_PROGRAM),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("status.submoduleSummary", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("safe.bareRepository", "explicit"),  # files that look like a repository are none
    ("core.quotePath", "false"),
    ("diff.autoRefreshIndex", "true"),
)
"""Settings of one fixed name. The last two are no guard, but what our reading of git's answers relies on."""

_BY_NAME: Mapping[str, Mapping[str, tuple[Pair, ...]]] = {
    "filter": dict.fromkeys(
        ("clean", "smudge", "process", "required"), (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    ),
    "diff": {"command": (("command", _HARMLESS_PROGRAM),), "textconv": (("textconv", _HARMLESS_PROGRAM),)},
    "merge": {"driver": (("driver", _HARMLESS_PROGRAM),)},
    "remote": {
        "uploadpack": (("uploadpack", _HARMLESS_PROGRAM),),
        "receivepack": (("receivepack", _HARMLESS_PROGRAM),),
        "vcs": (("vcs", "none"),),
        "promisor": (("promisor", "false"),),
    },
    "protocol": {"allow": (("allow", "never"),)},
    "credential": {"helper": (("helper", ""),)},
    "gpg": {"program": (("program", _HARMLESS_PROGRAM),)},
    "submodule": {"update": (("update", "none"),)},
    "hook": dict.fromkeys(("command", "event", "enabled"), (("enabled", "false"), ("event", ""))),
}
"""By section and last part of a key: what goes before all that is set for the same name in between."""

_HOOKS: tuple[Pair, ...] = FIXED[:3]
"""What git starts without any setting of the repository's as well: its hooks lie in `.git`."""

_USUAL: Mapping[str, str] = {"core.sshcommand": "ssh", "core.askpass": "", "protocol.allow": "user", "diff.external": ""}
_USUALLY_ALLOWED: Mapping[str, str] = {"http": "always", "https": "always", "git": "always", "ssh": "always", "file": "user"}
"""What git does without a setting, where that is no program of the repository's."""


def parse(listing: bytes) -> list[Setting]:
    """From `git config --list -z --show-scope`."""
    parts = listing.decode("utf-8", "surrogateescape").split("\0")
    found: list[Setting] = []
    for scope, entry in zip(parts[0::2], parts[1::2], strict=False):
        key, line, value = entry.partition("\n")
        found.append(Setting(scope, key, value if line else "true"))
    return found


def taken_apart(key: str) -> tuple[str, str | None, str]:
    """Section, the name in between (which may contain anything, dots too, or be empty: `[filter ""]`), and the last part."""
    section, _, rest = key.partition(".")
    name, dot, last = rest.rpartition(".")
    return section.lower(), name if dot else None, last.lower()


def overrides(settings: Iterable[Setting]) -> list[Pair]:
    """What goes before the settings of all files: those of one fixed name, and those that stand there under some name."""
    return [*FIXED, *dict.fromkeys(pair for item in settings for pair in _of_name(item.key))]


def _of_name(key: str) -> Iterator[Pair]:
    section, name, last = taken_apart(key)
    if section == "pager" and name is None:
        yield key, "false"
    elif name is not None:
        for part, value in _BY_NAME.get(section, {}).get(last, ()):
            yield f"{section}.{name}.{part}", value


def filters(settings: Iterable[Setting]) -> set[str]:
    """Names of the filters that are configured, by whomever, and that we switch off."""
    apart = (taken_apart(item.key) for item in settings if item.value)
    return {name for section, name, last in apart if section == "filter" and name is not None and last in ("clean", "smudge", "process")}


def for_fetching(settings: Sequence[Setting]) -> list[Pair]:
    """For a build tool that may reach the network: whatever the repository says is as if it were not said; what the user says holds.

    Not closed: `url.ANY.insteadOf`, which nothing takes back. It leads to another address, by a protocol that the user allows.
    """
    users: dict[str, list[str]] = {}
    for item in settings:
        if item.scope not in OF_REPOSITORY:
            users.setdefault(_canonical(item.key), []).append(item.value)
    neutral = {**{key.lower(): value for key, value in FIXED}, **_USUAL}
    hooks = {key.lower() for key, _ in _HOOKS}
    pairs = list(_HOOKS)
    for key in dict.fromkeys(item.key for item in settings if item.scope in OF_REPOSITORY):
        section, name, last = taken_apart(key)
        said = users.get(_canonical(key), [])
        if section == "credential" and last == "helper":
            pairs += [(key, ""), *((key, value) for value in said)]  # a list: it is emptied, and made of the user's
        elif section == "protocol" and name is not None and last == "allow":
            pairs.append((key, said[-1] if said else _USUALLY_ALLOWED.get(name, "never")))
        elif key.lower() in neutral and key.lower() not in hooks:
            pairs.append((key, said[-1] if said else neutral[key.lower()]))
        else:
            pairs += [(own, users.get(_canonical(own), [value])[-1]) for own, value in _of_name(key)]
    return list(dict.fromkeys(pairs))


def _canonical(key: str) -> str:
    section, name, last = taken_apart(key)
    return f"{section}.{last}" if name is None else f"{section}.{name}.{last}"


def as_variables(pairs: Sequence[Pair], *, after: Mapping[str, str]) -> dict[str, str]:
    """Settings as variables, which hold names with `=` too. Those that the caller's variables hold already stay, and go before ours.

    Args:
        after: the caller's variables.
    """
    try:
        count = max(0, int(after.get("GIT_CONFIG_COUNT", "0") or 0))
        own = [(after[f"GIT_CONFIG_KEY_{number}"], after[f"GIT_CONFIG_VALUE_{number}"]) for number in range(count)]
    except (ValueError, KeyError):  # git itself would refuse
        own = []
    made: dict[str, str] = {}
    for number, (key, value) in enumerate([*own, *pairs]):
        made[f"GIT_CONFIG_KEY_{number}"] = key
        made[f"GIT_CONFIG_VALUE_{number}"] = value
    return {"GIT_CONFIG_COUNT": str(len(own) + len(pairs)), **made}
