"""`make page-check`: the report's page in a real browser. Run by name, not with the other tests: it needs Chromium.

apt-get install chromium, or CHROMIUM=/path/to/it; screenshots are left in .pages/
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from report_support import HOSTILE, hostile_report
from toolchains import requires

from query.answers.style import one_line
from query.reports import page
from query.reports.graphs import of_findings

HERE = Path(__file__).parent
PAGES = HERE.parent / ".pages"
PLAYWRIGHT = "playwright-core@1.65.1"


def test_the_page_works_in_chromium_without_network_and_without_complaints(tmp_path: Path):
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert browser, "no Chromium; to get one: apt-get install chromium, or set CHROMIUM"
    requires("npm")
    npm = shutil.which("npm")
    assert npm
    PAGES.mkdir(exist_ok=True)
    made = hostile_report(tmp_path)
    (PAGES / "report.html").write_text(page.render(made), encoding="utf-8")
    (PAGES / "graph.html").write_text(page.graph_page(of_findings(made.findings), HOSTILE[4], [HOSTILE[0]]), encoding="utf-8")
    subprocess.run(
        [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(tmp_path), PLAYWRIGHT], check=True
    )
    shutil.copy(HERE / "page_browser.cjs", tmp_path)
    done = subprocess.run(
        ["node", str(tmp_path / "page_browser.cjs"), browser, str(PAGES)], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
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
