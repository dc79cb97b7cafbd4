"""The book has every page once, and no link in it leads nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.book import pages
from ci.book.__main__ import main


def test_every_document_is_a_page_of_the_book_and_the_book_is_whole(tmp_path: Path):
    listed = pages.listed(pages.settings(tmp_path, tmp_path)["nav"])
    assert sorted(listed) == sorted([*pages.documents(), f"{pages.DECISIONS}/index.md"])
    assert main(tmp_path) == 0, "mkdocs names the link or the page"
    site = tmp_path / "site"
    assert (site / "query/doc/completeness/index.html").is_file()
    assert (site / ".github/SECURITY/index.html").is_file()
    assert (site / "search/search_index.json").stat().st_size > 100_000


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path / "repository")
    monkeypatch.setattr(
        pages, "settings", lambda docs, site: {"site_name": "x", "docs_dir": str(docs), "site_dir": str(site), "nav": ["README.md"]}
    )
    (tmp_path / "repository" / pages.DECISIONS).mkdir(parents=True)
    (tmp_path / "repository/README.md").write_text("[gone](gone.md)\n", encoding="utf-8")
    assert main(tmp_path) == 1
