"""The platform that a workspace is read for, and which conditions on platforms hold there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_TOKEN = re.compile(r'\s*(?:([A-Za-z_][\w-]*)|("[^"]*")|([(),=]))')
_ARCHITECTURES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64", "i686": "x86", "i386": "x86"}
_ATOMICS = [f'target_has_atomic="{width}"' for width in ("8", "16", "32", "64", "ptr")]
_SYSTEMS = {"linux": ("linux", "unix"), "darwin": ("macos", "unix"), "win32": ("windows", "windows")}


class Platform(msgspec.Struct, frozen=True, kw_only=True):
    """`cfg` is what rustc would say of it, as far as manifests ask: `unix`, `target_os="linux"`."""

    triple: str
    cfg: frozenset[str]


def platform_of(system: str, machine: str, libc: str) -> Platform:
    """The platform of a machine.

    Args:
        system: as `sys.platform`. machine: as `platform.machine()`. libc: as `platform.libc_ver()[0]`; empty for musl.
    """
    name, family = _SYSTEMS.get(system, (system, "unix"))
    arch = _ARCHITECTURES.get(machine.lower(), machine.lower())
    environment = {"linux": "gnu" if libc else "musl", "windows": "msvc"}.get(name, "")
    vendor = {"macos": "apple", "windows": "pc"}.get(name, "unknown")
    values = {
        "target_os": name, "target_family": family, "target_arch": arch, "target_env": environment, "target_vendor": vendor,
        "target_pointer_width": "32" if arch == "x86" else "64", "target_endian": "little", "panic": "unwind",
    }  # fmt: skip
    parts = [{"x86": "i686"}.get(arch, arch), vendor, {"macos": "darwin"}.get(name, name), environment]
    return Platform(
        triple="-".join(filter(None, parts)),
        cfg=frozenset({family, "debug_assertions", *(f'{key}="{value}"' for key, value in values.items()), *_ATOMICS}),
    )


def applies(target: str, platform: Platform) -> bool:
    """Whether a table `[target.…]` of a manifest holds on a platform; a condition that cannot be read does.

    Args:
        target: `cfg(…)`, or the triple of a platform; empty for what holds everywhere.
    """
    if not target.startswith("cfg("):
        return target in ("", platform.triple)
    tokens = list(_tokens(target))
    try:
        value, rest = _value(tokens, 0, platform.cfg)
    except IndexError:
        return True
    return value or rest != len(tokens)


def _tokens(text: str) -> Iterator[str]:
    place = 0
    while match := _TOKEN.match(text, place):
        yield match[0].strip()
        place = match.end()


def _value(tokens: list[str], at: int, cfg: frozenset[str]) -> tuple[bool, int]:
    """The value of the condition that begins at a token, and where it ends."""
    name = tokens[at]
    following = tokens[at + 1] if at + 1 < len(tokens) else ""
    if following == "=":
        return f"{name}={tokens[at + 2]}" in cfg, at + 3
    if following != "(":
        return name in cfg, at + 1
    values: list[bool] = []
    at += 2
    while tokens[at] != ")":
        if tokens[at] == ",":
            at += 1
            continue
        value, at = _value(tokens, at, cfg)
        values.append(value)
    return any(values) if name == "any" else not any(values) if name == "not" else all(values), at + 1
