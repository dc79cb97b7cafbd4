"""What is opened of the place where a program is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from support import write_tree

from indexer.servers.installations import parts


def test_toolchains_are_opened_by_their_parts(tmp_path: Path) -> None:
    """What tells a toolchain's own folder; and what of it is opened."""
    home = str(tmp_path / "home")

    def opened(files: Sequence[str], program: str, *, links: Mapping[str, str] = {}, beside: Sequence[str] = ()) -> set[str]:
        shutil.rmtree(home, ignore_errors=True)
        write_tree(Path(home), {**dict.fromkeys(files, ""), program: "", "tool/etc/secret": ""})
        for link, target in links.items():
            (Path(home) / link).parent.mkdir(parents=True, exist_ok=True)
            (Path(home) / link).symlink_to(Path(home) / target)
        found = next(iter(links), program)
        return {os.path.relpath(path, home) for path in parts(f"{home}/{found}", home, beside) if os.path.exists(path)}

    go = ["sdk/VERSION", "sdk/pkg/tool/x", "sdk/src/runtime/a.go", "sdk/src/fmt/a.go", "sdk/.git-credentials"]
    assert opened(go, "sdk/bin/go") == {"sdk/bin/go", "sdk/bin", "sdk/pkg", "sdk/src", "sdk/VERSION"}
    java = ["jdk/lib/modules", "jdk/release", "jdk/conf/a", "jdk/my/keystore"]
    assert opened(java, "jdk/bin/java") == {"jdk/bin/java", "jdk/bin", "jdk/conf", "jdk/lib", "jdk/release"}
    npm = [".local/lib/node_modules/b/x", ".local/lib/secret"]
    assert opened(npm, ".local/lib/node_modules/a/cli.js", links={".local/bin/a": ".local/lib/node_modules/a/cli.js"}) == {
        ".local/bin/a",
        ".local/lib/node_modules",
        ".local/lib/node_modules/a/cli.js",
    }
    assert opened([".local/lib/libx.so.1", ".local/lib/clang/18/include/a.h"], ".local/bin/clangd") == {
        ".local/bin/clangd",
        ".local/lib/clang",
        ".local/lib/libx.so.1",
    }
    assert opened(["tool/lib/libx.so", "tool/lib/y"], "tool/bin/x") == {"tool/bin/x", "tool/lib"}
    assert opened(["tool/main.lua", "tool/x"], "tool/bin/lua-language-server", beside=["main.lua"]) == {
        "tool/bin/lua-language-server",
        "tool/main.lua",
    }
    brew = ["brew/Cellar/icu/1/lib/libicu.so", "brew/opt/x", "brew/etc/secret", "brew/var/db"]
    assert opened(brew, "brew/Cellar/node/20/bin/node", links={"brew/bin/node": "brew/Cellar/node/20/bin/node"}) == {
        "brew/bin/node",
        "brew/Cellar/node/20/bin/node",
        "brew/Cellar",
        "brew/opt",
    }
    python = ["base/lib/python3.11/os.py", "base/bin/python3.11", "venv/pyvenv.cfg", "venv/lib/python3.11/site-packages/x.py", "venv/x"]
    assert opened(python, "base/bin/python3", links={"venv/bin/python": "base/bin/python3.11"}) == {
        "venv/bin/python",
        "venv/pyvenv.cfg",
        "venv/lib/python3.11",
        "base/bin/python3.11",
        "base/lib/python3.11",
    }
