"""What of the system itself a confined server may see: programs and libraries, and of /etc, /proc and /sys only what runtimes read.

A list of what is opened, not of what is hidden: /etc holds shadow, keys of ssh and tokens of whatever is installed, /proc the command
lines of all processes. A server that is started by root could read all of that. Patterns are those of `glob`; what is not there is
passed over. `indexer/doc/fence.md` is the table for people.
"""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from indexer.encoding import read_beginning

_RUN = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec"),
    *("/usr/local/lib", "/usr/local/lib64", "/usr/local/libexec"),
    *("/nix/store", "/gnu/store"),
)
"""Not /usr/local/bin and not /opt: what is needed of these is opened by the program's name (`indexer.servers.installations`)."""

_READ = ("/usr/include", "/usr/share", "/usr/local/include", "/usr/*-*-*")
"""The last are the headers and libraries of other machines, by their triple."""

_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "ld-musl-*.path"),
    *("localtime", "timezone", "zoneinfo", "locale.conf", "locale.alias", "default/locale"),
    *("passwd", "group", "nsswitch.conf"),
    *("os-release", "lsb-release", "debian_version", "*-release", "mime.types", "inputrc", "terminfo", "alternatives"),
    *("ssl/openssl.cnf", "ssl/certs", "pki/tls/openssl.cnf", "pki/tls/certs", "pki/java", "pki/ca-trust/extracted", "crypto-policies"),
    *("java", "java-*", ".java", "jvm*", "dotnet/install_location", "php", "php.ini", "php.d", "python3*", "erlang", "R", "xdg/clangd"),
)
_PROC = (
    *("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems", "cgroups"),
    *("sys/vm/overcommit_memory", "sys/vm/max_map_count"),
    *("sys/kernel/osrelease", "sys/kernel/ostype", "sys/kernel/pid_max", "sys/kernel/threads-max", "sys/kernel/cap_last_cap"),
    *("sys/fs/file-max", "sys/fs/nr_open", "sys/fs/pipe-max-size", "sys/fs/inotify/max_user_watches", "sys/fs/inotify/max_user_instances"),
)
"""Beside these a process has its own entries, which the sandbox opens once its number is known."""

_SYS = ("devices/system/cpu", "devices/system/node", "kernel/mm/transparent_hugepage", "kernel/mm/hugepages")
_CGROUP_FILES = (
    *("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.shares", "cpu.weight", "cpuset.cpus", "cpuset.cpus.effective"),
    *("memory.max", "memory.high", "memory.current", "memory.swap.max", "memory.limit_in_bytes", "memory.soft_limit_in_bytes"),
    *("memory.usage_in_bytes", "memory.stat", "pids.max", "cgroup.controllers"),
)
PATTERNS = (*_RUN, *_READ, *(f"/etc/{name}" for name in _ETC), *(f"/proc/{name}" for name in _PROC), *(f"/sys/{name}" for name in _SYS))
"""All of it, beside the limits of our own control group."""


def system_run() -> list[str]:
    """Folders of the system that every confined server may read and execute."""
    return list(_RUN)


@functools.cache
def system_read() -> Sequence[str]:
    """Folders and files of the system that every confined server may read."""
    found = [path for pattern in PATTERNS[len(_RUN) :] for path in (sorted(glob.glob(pattern)) if "*" in pattern else [pattern])]
    return [*found, *_own_limits()]


def _own_limits() -> Iterator[str]:
    """The files that say how much memory and time our own control group has: runtimes size their heaps and threads by them."""
    for line in read_beginning(Path("/proc/self/cgroup"), 100_000).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for mounted in ("", *controllers.split(",")):
            folder = os.path.join("/sys/fs/cgroup", mounted, path.strip("/"))
            while folder.startswith("/sys/fs/cgroup"):
                yield from filter(os.path.exists, (os.path.join(folder, name) for name in _CGROUP_FILES))
                folder = os.path.dirname(folder)
