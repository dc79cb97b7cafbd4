"""`make page-check`: the pages of a report and of an index in a real browser. Run by name, not with the other tests: it needs Chromium.

apt-get install chromium, or CHROMIUM=/path/to/it; screenshots are left in .pages/
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from query_support import FILES
from report_support import HOSTILE, hostile_report
from support import crawl_with_ty, write_tree
from toolchains import requires

from query.answers.style import one_line
from query.facts.index import open_index
from query.pages import names, site
from query.reports import page
from query.reports.graphs import of_findings

HERE = Path(__file__).parent
PAGES = HERE.parent / ".pages"
PLAYWRIGHT = "playwright-core@1.65.1"


def test_the_page_works_in_chromium_without_network_and_without_complaints(tmp_path: Path):
    PAGES.mkdir(exist_ok=True)
    made = hostile_report(tmp_path)
    (PAGES / "report.html").write_text(page.render(made), encoding="utf-8")
    (PAGES / "graph.html").write_text(page.graph_page(of_findings(made.findings), HOSTILE[4], [HOSTILE[0]]), encoding="utf-8")
    seen = _browse(tmp_path, "page_browser.cjs", [str(PAGES)])
    for name in ("light", "dark", "narrow", "graph"):
        assert seen[name]["complaints"] == [], name
        assert seen[name]["overflow"] <= 0, name
        assert seen[name]["foreign"] == 0, name
    assert seen["light"]["background"] != seen["dark"]["background"]
    assert seen["script_refused"] is True
    assert seen["fetch_refused"] is True
    assert seen["found"] == [one_line(f"pkg.{HOSTILE[2]}")]
    assert "not updated" in seen["evidence"]
    assert seen["opened_by_keyboard"] is True
    assert seen["opened_from_graph"] is True
    assert seen["copied"] == "Copied"


def test_a_site_and_a_server_work_in_chromium_by_the_keyboard_and_without_a_script(tmp_path: Path):
    root = write_tree(tmp_path / "shop", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        site.write(index, tmp_path / "site", jobs=1)
        page = names.of_file("shop/models.py")
    with subprocess.Popen([sys.executable, "-m", "query.cli", "serve"], cwd=root, stdout=subprocess.PIPE, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().removeprefix("open ").strip()
            seen = _browse(tmp_path, "pages_browser.cjs", [str(tmp_path / "site"), address, str(PAGES), "describe", page])
        finally:
            server.terminate()
    for name in ("light", "dark", "narrow"):
        assert seen[name]["complaints"] == [], name
        assert seen[name]["overflow"] <= 0, name
        assert seen[name]["found"].endswith(".describe")
        assert seen[name]["symbol"].startswith("method shop.models.")
        assert "def describe" in seen[name]["line"]
        assert seen[name]["back"] == seen[name]["symbol"]
        assert seen[name]["focused"] in ("A", "SUMMARY")
    assert seen["light"]["background"] != seen["dark"]["background"]
    assert seen["script_refused"] is True
    assert "describe" in seen["plain"]
    assert seen["address"] == "has no token"
    assert seen["live"].endswith(".describe")
    assert seen["complaints"] == []
    assert seen["refused"] == 403


def _browse(folder: Path, script: str, arguments: list[str]) -> dict[str, Any]:
    """What a script of ours for Chromium has seen."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert browser, "no Chromium; to get one: apt-get install chromium, or set CHROMIUM"
    requires("npm")
    npm = shutil.which("npm")
    assert npm
    PAGES.mkdir(exist_ok=True)
    install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), PLAYWRIGHT]
    subprocess.run(install, check=True)
    shutil.copy(HERE / script, folder)
    done = subprocess.run(["node", str(folder / script), browser, *arguments], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
