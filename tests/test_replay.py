"""Chains of releases of real packages, each indexed upon the one before: at every step the rows are those of a crawl from nothing.

The releases are wheels from the registry, which are unpacked and never installed. All releases in a row: `make bench-increments`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cache_support import clone, tables
from support import crawl_with_ty
from toolchains import PYPI, requires

pytestmark = pytest.mark.slow

CHAINS = {
    "click": ["8.0.0", "8.0.4", "8.1.8", "8.3.0"],
    "flask": ["2.0.0", "2.0.3", "2.3.3", "3.1.0"],
}
"""A step to a release of the same series, in which few files differ, then two over a whole series, in which nearly all do."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires(PYPI)
    folder = tmp_path_factory.mktemp("wheels")
    for package, versions in CHAINS.items():
        for version in versions:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--python-version", "3.11"]
            subprocess.run([*command, "--dest", str(folder), f"{package}=={version}"], check=True)
    return folder


@pytest.mark.parametrize("package", CHAINS)
def test_releases_upon_each_other(package: str, wheels: Path, tmp_path: Path) -> None:
    root = tmp_path / "work" / package
    crawled = documents = 0
    for version in CHAINS[package]:
        for file in root.iterdir() if root.is_dir() else ():
            if file.name != ".lspidx":
                shutil.rmtree(file) if file.is_dir() else file.unlink()
        [wheel] = [file for file in wheels.iterdir() if file.name.lower().startswith(f"{package}-{version}-")]
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root.parent, [name for name in archive.namelist() if name.startswith(f"{package}/")])
        made = crawl_with_ty(root)
        if version == CHAINS[package][0]:  # a crawl from nothing itself
            continue
        crawled += made.manifest["crawled"]
        documents += made.manifest["counts"]["documents"]
        clean = clone(root, tmp_path / "clean" / version / package)
        crawl_with_ty(clean)
        assert tables(root) == tables(clean), version
    assert 0 < crawled < documents
