"""Artifacts that an attacker made: each is refused with the reason, and the index stays as it was, file by file."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cache_support import (
    FIRST,
    Rows,
    as_manifest,
    bring,
    chunk_of,
    clone,
    contents,
    export,
    rows_of,
    signed,
    state,
    with_rows,
    write_folder,
    write_tar,
)
from query_support import lspidx

from indexer.cache import reader, unpack
from indexer.cache.artifact import MANIFEST, open_artifact
from indexer.errors import CacheRefused, UsageError
from indexer.store import merge as reader_merge
from indexer.store.lint import lint
from indexer.store.schema import SCHEMA_VERSION
from query.facts.index import open_index

pytest_plugins = ["query_fixtures"]

Files = dict[str, bytes]
OUTSIDE = "outside/0000000000000000.parquet"


@pytest.fixture(scope="module")
def files(shop_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A good artifact of the shop, by name."""
    return contents(export(shop_root, tmp_path_factory.mktemp("good") / "artifact", profile="git"))


@pytest.fixture(scope="module")
def victim(shop_root: Path, files: Files, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A work tree with an index, and all of its files: nothing may change them."""
    folder = tmp_path_factory.mktemp("victim")
    root = clone(shop_root, folder / "shop")
    bring(write_folder(folder / "good", files), root)
    return root, state(root)


@pytest.fixture
def refused(victim: tuple[Path, dict[str, bytes]], tmp_path: Path, forked_readers: None) -> Callable[[Path], str]:
    """Tries to import and returns the reason of the refusal."""
    root, before = victim
    beside = sorted(path.name for path in tmp_path.parent.iterdir())

    def attempt(source: Path) -> str:
        with pytest.raises(CacheRefused) as caught:
            bring(source, root)
        assert state(root) == before
        assert sorted(path.name for path in tmp_path.parent.iterdir()) == beside  # nothing came to lie beside it
        return str(caught.value)

    return attempt


# ---- tar files and folders


def _member(name: str, kind: bytes = tarfile.REGTYPE, content: bytes = b"", **more: Any) -> bytes:
    """One member as it stands in a tar file, whatever tarfile thinks of it."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content)
    for key, value in more.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.parquet", "not a name that a file of an artifact has"),
        ("/etc/cron.d/evil", "not a name that a file of an artifact has"),
        ("facts/../../evil.parquet", "not a name that a file of an artifact has"),
        ("facts/../facts/0000000000000000.parquet", "not a name that a file of an artifact has"),
        ("\\\\server\\share\\evil.parquet", "not a name that a file of an artifact has"),
        ("facts\\0000000000000000.parquet", "not a name that a file of an artifact has"),
        ("C:/evil.parquet", "not a name that a file of an artifact has"),
        ("./manifest.json", "not a name that a file of an artifact has"),
        ("facts/0000000000000000.parquet\n", "not a name that a file of an artifact has"),
        ("facts/évil.parquet", "no tar file"),
        (FIRST, "twice"),
        (MANIFEST + "\0.txt", "twice"),
    ],
)
def test_names_in_a_tar_file(name: str, reason: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    good = write_tar(tmp_path / "good.tar", files).read_bytes()
    evil = tmp_path / "evil.tar"
    evil.write_bytes(good[: _end(good)] + _member(name, content=b"evil") + bytes(1024))
    assert reason in refused(evil)


def _end(archive: bytes) -> int:
    """Where its members end."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return max(member.offset_data + -(-member.size // 512) * 512 for member in opened)


@pytest.mark.parametrize(
    "kind",
    [
        *(tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CONTTYPE),
        *(tarfile.GNUTYPE_SPARSE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE),
    ],
)
def test_members_that_are_no_regular_files(kind: bytes, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    evil = tmp_path / "evil.tar"
    evil.write_bytes(_member(FIRST, kind, linkname="/etc/passwd") + write_tar(tmp_path / "good.tar", files).read_bytes())
    assert "no regular file" in refused(evil)


@pytest.mark.parametrize("size", [1 << 62, (1 << 33) - 1, -1, 256_000_001])
def test_sizes_that_no_member_has(size: int, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    evil = tmp_path / "evil.tar"
    evil.write_bytes(_member(FIRST, size=size) + write_tar(tmp_path / "good.tar", files).read_bytes())
    assert "larger than any that lspidx writes" in refused(evil)


@pytest.mark.parametrize("part", ["head", "middle", "compressed", "empty", "noise", "zeros"])
def test_what_is_no_whole_tar_file(part: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    import gzip

    good = write_tar(tmp_path / "good.tar", files).read_bytes()
    made = {
        "head": good[:300],
        "middle": good[: _end(good) - 1000],
        "compressed": gzip.compress(good),
        "empty": b"",
        "noise": bytes(range(256)) * 20,
        "zeros": bytes(10_240),
    }[part]
    evil = tmp_path / "evil.tar"
    evil.write_bytes(made)
    assert any(reason in refused(evil) for reason in ("no tar file", "cut short", "no cache of lspidx"))


@pytest.mark.parametrize("what", ["chunk", "manifest", "folder", "folder of chunks"])
def test_links_in_a_folder(what: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    real, evil = write_folder(tmp_path / "real", files), write_folder(tmp_path / "evil", files)
    name = {"chunk": FIRST, "manifest": MANIFEST, "folder of chunks": "facts", "folder": ""}[what]
    place = evil / name
    place.rename(tmp_path / "moved")
    place.symlink_to(real / name)
    assert any(reason in refused(evil) for reason in ("symbolic link", "neither a folder nor a file"))


def test_a_pipe_in_a_folder(files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    """Whoever opened it would wait for ever."""
    evil = write_folder(tmp_path / "evil", files)
    (evil / FIRST).unlink()
    os.mkfifo(evil / FIRST)
    assert "no regular file" in refused(evil)
    os.mkfifo(tmp_path / "pipe.tar")
    assert "neither a folder nor a file" in refused(tmp_path / "pipe.tar")


def test_files_that_no_artifact_has(files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    assert "not a name that a file of an artifact has" in refused(write_folder(tmp_path / "a", {**files, "facts/evil.so": b""}))
    assert "not a name that a file of an artifact has" in refused(write_folder(tmp_path / "b", {**files, ".git/hooks/post-checkout": b""}))
    assert "no cache of lspidx" in refused(write_folder(tmp_path / "c", {"README": b""}))


# ---- chunks


def _swap(files: Files) -> Files:
    first, second = sorted(name for name in files if name != MANIFEST)[:2]
    return {**files, first: files[second], second: files[first]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda files: {name: content for name, content in files.items() if name != FIRST}, "not those of its manifest"),
        (lambda files: {**files, "facts/00000000000000ff.parquet": files[FIRST]}, "not those of its manifest"),
        (_swap, "damaged or changed|has .* bytes, its manifest says"),
        (lambda files: {**files, FIRST: files[FIRST][:-1]}, "has .* bytes, its manifest says"),
        (lambda files: {**files, FIRST: files[FIRST][:100] + b"\xff" + files[FIRST][101:]}, "damaged or changed"),
        (lambda files: signed({**files, FIRST: b"PK\x03\x04"}), "no Parquet file"),
        (lambda files: signed({**files, FIRST: files[FIRST][:-4] + b"PARE"}), "no Parquet file"),
        (lambda files: signed({**files, FIRST: files[FIRST][: len(files[FIRST]) // 2] + b"PAR1"}), "no Parquet file|cannot be read"),
        (lambda files: signed({**files, FIRST: files[FIRST][:-8] + b"\xff\xff\xff\x7fPAR1"}), "no Parquet file"),
        (lambda files: signed({**files, FIRST: files[FIRST]}, lambda m: m["chunks"][0].update(size_bytes=1)), "its manifest says 1"),
        (lambda files: signed({**files, FIRST: files[FIRST]}, lambda m: m["chunks"][0].update(rows=1)), "other rows than its manifest"),
        (lambda files: signed({**files, FIRST: files[FIRST]}, lambda m: m["chunks"].append(m["chunks"][0])), "twice"),
        (lambda files: signed({**files, FIRST: chunk_of(rows_of(files[FIRST]), row_group_size=1)}), "not in one group"),
        (lambda files: signed({**files, "facts/00000000000000ff.parquet": files[FIRST]}), "described twice|other rows"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("form", ["folder", "tar"])
def test_chunks_that_are_not_what_the_manifest_says(
    form: str, change: Callable[[Files], Files], reason: str, files: Files, refused: Callable[[Path], str], tmp_path: Path
) -> None:
    import re

    evil = change(files)
    said = refused(write_folder(tmp_path / "evil", evil) if form == "folder" else write_tar(tmp_path / "evil.tar", evil))
    assert re.search(reason, said) or (form == "tar" and "damaged or changed" in said)


def _nested(depth: int) -> bytes:
    kind: pa.DataType = pa.int32()
    for _ in range(depth):
        kind = pa.list_(kind)
    buffer = io.BytesIO()
    pq.write_table(pa.table({"path": pa.array([None] * 7, kind)}), buffer)
    return buffer.getvalue()


def _other_columns(files: Files, change: Callable[[pa.Table], pa.Table]) -> Files:
    buffer = io.BytesIO()
    pq.write_table(change(pq.read_table(io.BytesIO(files[FIRST]))), buffer)
    return signed({**files, FIRST: buffer.getvalue()})


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns(["digest"]),
        lambda table: table.append_column("evil", pa.array([1] * len(table))),
        lambda table: table.set_column(5, "line_count", pa.array([2**40] * len(table), pa.int64())),
        lambda table: table.set_column(0, "path", table.column(0).cast(pa.binary())),
        lambda table: table.select(list(reversed(table.column_names))),
    ],
    ids=["missing", "more", "wider", "bytes", "order"],
)
def test_columns_that_are_not_those_of_the_facts(
    change: Callable[[pa.Table], pa.Table], files: Files, refused: Callable[[Path], str], tmp_path: Path
) -> None:
    assert "other columns" in refused(write_folder(tmp_path / "evil", _other_columns(files, change)))


def test_a_schema_that_is_nested_deeply(files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    said = refused(write_folder(tmp_path / "evil", signed({**files, FIRST: _nested(300)})))
    assert "other columns" in said or "cannot be read" in said or "other rows" in said


# ---- the manifest


def _with_manifest(files: Files, text: bytes) -> Files:
    return {**files, MANIFEST: text}


def _manifest(files: Files, **values: Any) -> Files:
    return _with_manifest(files, as_manifest({**json.loads(files[MANIFEST]), **values}))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda f: _manifest(f, schema_version=1), f"schema 1, .* reads 2, {SCHEMA_VERSION}"),
        (lambda f: _manifest(f, content_version=99), "content 99"),
        (lambda f: _manifest(f, format=1), "format 1"),
        (lambda f: _with_manifest(f, b""), "cannot be read"),
        (lambda f: _with_manifest(f, b"\xff\xfe{"), "cannot be read"),
        (lambda f: _with_manifest(f, b"[" * 500_000), "cannot be read"),
        (lambda f: _with_manifest(f, b'{"a":' * 500_000), "cannot be read"),
        (lambda f: _with_manifest(f, f[MANIFEST].replace(b'"dirty": false', b'"dirty": NaN')), "cannot be read"),
        (lambda f: _with_manifest(f, f[MANIFEST].replace(b'"dirty": false', b'"dirty": false, "dirty": false')), "not written as lspidx"),
        (lambda f: _with_manifest(f, f[MANIFEST].replace(b"\n", b"\r\n")), "not written as lspidx"),
        (lambda f: _with_manifest(f, f[MANIFEST].replace(b'"dirty"', b'"evil": 1, "dirty"')), "cannot be read"),
        (lambda f: _with_manifest(f, f[MANIFEST] + b" " * 21_000_000), "larger than any"),
        (lambda f: _manifest(f, commit="../../../../etc"), "no commit"),
        (lambda f: _manifest(f, origins=["--upload-pack=evil"]), "no commit"),
        (lambda f: _manifest(f, without_server=["klingon"]), "no language"),
        (lambda f: _manifest(f, unread=[["../../secret.rb", "ruby"]]), "no path inside"),
        (lambda f: _manifest(f, unread=[["/etc/passwd", "ruby"]]), "no path inside"),
        (lambda f: _manifest(f, unread=[["a.rb", "klingon"]]), "no language"),
        (lambda f: _manifest(f, unread=[["a.rb", "ruby"]] * 2_000_001), "larger than any|cannot be read"),
        (lambda f: _manifest(f, counts={"documents": -1}), "cannot be read"),
        (lambda f: _manifest(f, counts={"documents": 10**30}), "cannot be read"),
        (lambda f: _manifest(f, numbers={"asked": 2**63, "lost": 0, "cross_checked": 0, "cross_disagreed": 0}), "cannot be read"),
        (lambda f: _manifest(f, lspidx="9" * 10_000), "cannot be read"),
        (lambda f: signed(f, lambda m: m["chunks"][0].update(name="../evil.parquet")), "cannot be|not those"),
        (lambda f: signed(f, lambda m: m["chunks"][0].update(name="facts/\u0000.parquet")), "cannot be|not those"),
        (lambda f: signed(f, lambda m: m["chunks"][0].update(sha256="../../x")), "cannot be"),
        (lambda f: signed(f, lambda m: m["chunks"][0].update(size_bytes=2**62)), "cannot be read"),
        (lambda f: signed(f, lambda m: m["servers"][0].update(language="klingon")), "no language"),
        (lambda f: signed(f, lambda m: m["servers"][0].update(capabilities="[" * 100_000)), "cannot be read"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_manifests(change: Callable[[Files], Files], reason: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    import re

    evil = change(files)
    assert evil[MANIFEST] != files[MANIFEST]
    assert re.search(reason, refused(write_folder(tmp_path / "evil", evil)))


# ---- rows


def _set(table: str, column: str, value: Any, row: int = -1) -> Callable[[Rows], None]:
    """Changes one value of the first document that has such a row; of the document itself where there is no table."""

    def change(rows: Rows) -> None:
        for item in rows:
            if not table:
                item[column] = value
                return
            if item[table]:
                item[table][row][column] = value
                return
        raise AssertionError(f"nothing has {table}")

    return change


PATHS = [
    "",
    "/etc/passwd",
    "../up.py",
    "a/../../b.py",
    "a//b.py",
    "./a.py",
    "a\\b.py",
    "\\\\host\\share\\a.py",
    "C:/a.py",
    "a\0b.py",
    "x/" * 2100,
]


@pytest.mark.parametrize("path", PATHS, ids=[repr(path[:20]) for path in PATHS])
def test_paths_of_documents(path: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    assert "no path inside" in refused(write_folder(tmp_path / "evil", with_rows(files, _set("", "path", path))))


KEYS = [*PATHS, "file:///etc/passwd", "file:x", "pip:/etc/passwd", "pip:x/../../y", "pip:a\\b", "c:x", "no-scheme/x.py"]


@pytest.mark.parametrize("key", KEYS, ids=[repr(key[:20]) for key in KEYS])
def test_names_of_files_outside(key: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    assert "no name of a file outside" in refused(write_folder(tmp_path / "evil", with_rows(files, _set("", "path", key), OUTSIDE)))


@pytest.mark.parametrize("path", [*PATHS, "file:///etc/passwd", "pip:/etc/passwd"])
def test_paths_to_which_rows_refer(path: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    assert "to which something refers" in refused(write_folder(tmp_path / "evil", with_rows(files, _set("targets", "path", path))))


ROWS: list[tuple[str, Callable[[Rows], None], str]] = [
    ("digest", _set("", "digest", "../../x"), "no digest"),
    ("no digest", _set("", "digest", None), "a hole"),
    ("status", _set("", "status", "external"), "wrong part"),
    ("other status", _set("", "status", "fine"), "wrong part"),
    ("language", _set("", "language", "klingon"), "does not know"),
    ("null module", _set("", "module", None), "a hole"),
    ("null flag", _set("", "is_test", None), "a hole"),
    ("null table", _set("", "coverage", None), "a hole"),
    ("negative size", _set("", "size_bytes", -1), "size_bytes is outside"),
    ("negative lines", _set("", "line_count", -(2**31)), "line_count is outside"),
    ("error line", _set("", "error_lines", [-5]), "error_lines is outside"),
    ("null error line", _set("", "error_lines", [None]), "has a hole"),
    ("container", _set("symbols", "container", 10_000), "leads to nothing"),
    ("container below", _set("symbols", "container", -2), "leads to nothing"),
    ("container of itself", lambda rows: rows[-1]["symbols"][-1].update(container=len(rows[-1]["symbols"]) - 1), "form no circle"),
    ("containers of each other", lambda rows: rows[-1]["owners"].extend([_owner(1, 2), _owner(2, 1)]), "form no circle|leads to nothing"),
    ("enclosing", _set("occurrences", "enclosing", 2**31 - 1), "leads to nothing"),
    ("not enclosed", _set("occurrences", "enclosing", -1), "every occurrence is enclosed"),
    ("symbol", _set("occurrences", "symbol", 9_999), "leads to nothing"),
    ("target", _set("occurrences", "target", -7), "leads to nothing"),
    ("supertype", lambda rows: rows[0]["supertypes"].append({"symbol": 0, "target": 9_999, "own": -1, "evidence": 8}), "leads to nothing"),
    ("kind", _set("symbols", "kind", 0), "symbols.kind says"),
    ("kind high", _set("symbols", "kind", 255), "symbols.kind says"),
    ("evidence", _set("occurrences", "evidence", 200), "occurrences.evidence says"),
    ("flags", _set("symbols", "flags", 0x8000), "flags has a bit"),
    ("external flag", _set("symbols", "flags", 2048), "flags has a bit"),
    ("line", _set("occurrences", "line", -1), "occurrences.line is outside"),
    ("line high", _set("occurrences", "line", 2**31 - 1), "occurrences.line is outside"),
    ("line behind the end", _set("occurrences", "line", 9_999_999), "within its document"),
    ("col", _set("occurrences", "col", -(2**31)), "occurrences.(end_)?col is outside"),
    ("width", _set("occurrences", "end_col", 0), "some width|agree"),
    ("symbol line", _set("symbols", "sel_line", 2**31 - 1), "outside of any file"),
    ("range", lambda rows: rows[-1]["symbols"][-1].update(end_line=0, end_col=0, start_line=5), "end after they start|in its range"),
    ("target line", _set("targets", "line", -3), "targets.line is outside"),
    ("null name", _set("occurrences", "name", None), "has a hole"),
    ("null moniker", _set("symbols", "moniker", None), "has a hole"),
    ("null number", _set("symbols", "kind", None), "has a hole"),
    ("null row", lambda rows: rows[0]["coverage"].append(None), "a hole"),
    ("line break", _set("symbols", "moniker", "a\nb"), "hold no line break"),
    ("long moniker", _set("symbols", "moniker", "m" * 100_000_000), "longer than any"),
    ("long documentation", _set("symbols", "documentation", "d" * 100_000_000), "longer than any"),
    ("method", _set("coverage", "method", "textDocument/evil"), "coverage.method says"),
    ("coverage status", _set("coverage", "status", "perfect"), "coverage.status says"),
    ("no coverage", _set("", "coverage", []), "every method once"),
    ("coverage twice", lambda rows: rows[0]["coverage"].__setitem__(0, rows[0]["coverage"][1]), "every method once"),
    ("coverage by nobody", lambda rows: rows[0].update(language="ruby"), "has a server"),
    ("done without asking", lambda rows: rows[0]["coverage"][2].update(status="done", asked=0, answered=0), "was asked"),
    ("negative answers", _set("coverage", "answered", -1), "answered is outside"),
    ("lost without a reason", _set("coverage", "status", "lost"), "has a reason"),
    ("severity", lambda rows: rows[0]["diagnostics"].append(_DIAGNOSTIC), "severity says"),
    ("unknown symbol at a definition", lambda rows: [o.update(symbol=-1) for d in rows for o in d["occurrences"]], "definition among"),
]  # fmt: skip


def _owner(symbol: int, own: int) -> dict[str, int]:
    return {"symbol": symbol, "target": -1, "own": own}


_DIAGNOSTIC = {"line": 0, "col": 0, "end_line": 0, "end_col": 1, "severity": 77, "code": "", "source": "", "message": ""}


@pytest.mark.parametrize(("change", "reason"), [item[1:] for item in ROWS], ids=[item[0] for item in ROWS])
def test_rows(change: Callable[[Rows], None], reason: str, files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    import re

    said = refused(write_folder(tmp_path / "evil", with_rows(files, change)))
    assert re.search(reason, said), said
    assert len(said) < 2_000


def test_bytes_that_are_no_text(files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    spoiled = files[FIRST].replace(b"describe", b"descri\xff\xfe")
    assert spoiled != files[FIRST]
    assert "cannot be read" in refused(write_folder(tmp_path / "evil", signed({**files, FIRST: spoiled})))


def test_an_artifact_of_other_files(files: Files, refused: Callable[[Path], str], tmp_path: Path) -> None:
    def foreign(rows: Rows) -> None:
        for row in rows:
            row["digest"] = "0" * 40

    evil = files
    for name in files:
        if name.startswith("facts/"):
            evil = with_rows(evil, foreign, name)
    assert "of this repository?" in refused(write_folder(tmp_path / "evil", evil))


# ---- what is let in does nothing


EVIL = "x'); DROP TABLE symbol; COPY (SELECT 1) TO '/tmp/evil'; --\" \x1b[31m\x1b]0;evil\x07 ${HOME} $(id) `id` %s {0}"


def test_sql_and_escapes_in_names_are_only_names(shop_root: Path, files: Files, tmp_path: Path) -> None:
    def rename(rows: Rows) -> None:
        for row in rows:
            row["module"] = row["package"] = EVIL
            for item in row["symbols"]:
                item["documentation"] = item["signature"] = item["hover"] = EVIL
                item["qualified_name"] = item["qualified_name"] + EVIL
            for item in row["unresolved_imports"]:
                item["module"] = EVIL

    root = clone(shop_root, tmp_path / "shop")
    bring(write_folder(tmp_path / "evil", with_rows(files, rename)), root)
    with open_index(root) as index:
        assert index.row("SELECT DISTINCT module FROM document WHERE status <> 'external'") == (EVIL,)
        assert lint(index.rows) == []
    for command in (
        ["query", "symbols", "Item"],
        ["query", "hover", "shop.models.Item"],
        ["status"],
        ["query", "outline", "shop/models.py"],
    ):
        done = lspidx(*command, cwd=root)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        assert "\x07" not in done.stdout
    assert not Path("/tmp/evil").exists()


def test_an_artifact_cannot_hide_files_as_skipped_or_as_unread(shop_root: Path, files: Files, tmp_path: Path) -> None:
    """What was left out is seen here: a file that the artifact does not describe is missing from answers, and they say so."""
    root = clone(shop_root, tmp_path / "shop")
    (root / "shop/more.py").write_text("from shop.service import run\nrun(1)\n")
    (root / "shop/other.py").write_text("from shop.service import run\nrun(1)\n")
    bring(write_folder(tmp_path / "evil", _manifest(files, unread=[["shop/more.py", "python"]])), root)
    with open_index(root) as index:
        from query.surface.registry import call

        found = call(index, "callers", {"symbol": "shop.service.run"}).completeness
        assert found.status == "partial"
        assert {reason.code: reason.paths for reason in found.reasons}["skipped_no_server"] == ["shop/more.py"]
        assert {reason.code: reason.paths for reason in found.reasons}["stale"] == ["shop/other.py"]


def test_nothing_in_an_artifact_is_loaded_as_code(shop_root: Path, files: Files, tmp_path: Path) -> None:
    """No pickle, no extension type: Arrow's own schema, which could name one, is not even read."""
    metadata = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": b"cos\nsystem\n(S'touch evil'\ntR."}
    table = pq.read_table(io.BytesIO(files[FIRST]))
    fields = [table.schema.field(0).with_metadata(metadata), *list(table.schema)[1:]]
    buffer = io.BytesIO()
    pq.write_table(table.cast(pa.schema(fields, metadata)), buffer, compression="none", use_dictionary=False)
    assert b"py_extension_type" in buffer.getvalue() or b"ARROW:schema" in buffer.getvalue()
    root = clone(shop_root, tmp_path / "shop")
    bring(write_folder(tmp_path / "evil", signed({**files, FIRST: buffer.getvalue()})), root)
    assert not (root / "evil").exists()
    with open_index(root) as index:
        assert lint(index.rows) == []


# ---- bombs


_MEASURED = """
import sys, threading
from pathlib import Path
from cache_support import bring
from indexer.cache import reader, unpack
unpack.MEMORY_BYTES = 700_000_000
peaks, ended = [0], threading.Event()
start = unpack._Reader.__init__
def watch(pid):
    while not ended.is_set():
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        peaks.extend(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
def started(reader):
    start(reader)
    threading.Thread(target=watch, args=[reader._process.pid]).start()
unpack._Reader.__init__ = started
try:
    bring(Path(sys.argv[1]), Path(sys.argv[2]))
except Exception as error:
    print(type(error).__name__, str(error)[:300])
ended.set()
print(max(peaks))
"""
_PACKED = """
import sys
from pathlib import Path
import test_cache_hostile as bombs
from cache_support import contents, signed, write_folder
source = Path(sys.argv[2])
files = contents(source)
bomb = getattr(bombs, sys.argv[1])(files)
def one_row(manifest):
    next(chunk for chunk in manifest["chunks"] if chunk["name"] == bombs.FIRST).update(rows=1)
write_folder(source, signed({**files, bombs.FIRST: bomb}, one_row))
"""


def _bomb_of_text(files: Files) -> bytes:
    """A few kB of zstd that are 1.2 GB of text."""
    rows = rows_of(files[FIRST])
    rows[0]["symbols"] = [{**rows[0]["symbols"][0], "documentation": "d" * 4_000_000}] * 300
    return chunk_of(rows[:1], compression="zstd", use_dictionary=True)


def _bomb_of_rows(files: Files) -> bytes:
    """A few kB of run lengths that are 20 million rows."""
    rows = rows_of(files[FIRST])[:1]
    from indexer.cache.relative import to_relative
    from indexer.store.shard import SCHEMA

    table = to_relative(pa.Table.from_pylist(rows, schema=SCHEMA).combine_chunks())
    place = SCHEMA.get_field_index("targets")
    size = 20_000_000
    kind = SCHEMA.field(place).type
    zeros = pa.array([0], pa.int32()).take(pa.nulls(size, pa.int32()).fill_null(0))
    names = pa.array(["a"]).take(pa.nulls(size, pa.int32()).fill_null(0))
    struct = pa.StructArray.from_arrays([names, zeros, zeros, zeros, zeros, zeros.cast(pa.uint64())], fields=list(kind.value_type))
    nested = pa.ListArray.from_arrays(pa.array([0, size], pa.int32()), struct, type=kind)
    buffer = io.BytesIO()
    pq.write_table(table.set_column(place, SCHEMA.field(place), nested), buffer, compression="zstd", use_dictionary=True)
    return buffer.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("make", [_bomb_of_text, _bomb_of_rows])
def test_what_unpacks_to_more_than_there_is_room_for(
    make: Callable[[Files], bytes], victim: tuple[Path, dict[str, bytes]], files: Files, tmp_path: Path
) -> None:
    root, before = victim
    source = write_folder(tmp_path / "evil", files)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}

    def run(code: str, *arguments: str) -> str:  # the making of them takes memory too
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    run(_PACKED, make.__name__, str(source))
    assert (source / FIRST).stat().st_size < 1_000_000
    said, peak_kb = run(_MEASURED, str(source), str(root)).splitlines()
    assert said.startswith("CacheRefused")
    assert 50_000 < int(peak_kb) < 900_000
    assert state(root) == before


def test_a_reader_that_is_killed_is_a_refusal(
    victim: tuple[Path, dict[str, bytes]], files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the limit of processor time does it, or Arrow where it runs out of memory."""
    root, before = victim
    monkeypatch.setattr(unpack, "MEMORY_BYTES", 20_000_000)
    with pytest.raises(CacheRefused, match=r"more time or memory than is allowed|cannot be read"):
        bring(write_folder(tmp_path / "good", files), root)
    assert state(root) == before


def test_names_of_files_have_a_limit_in_sum(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 paths of 4,000 characters are 340 kB of zstd, and took 770 MB of whoever imports, who has no limit."""
    source = write_folder(tmp_path / "good", files)
    inside, _, _ = reader.read(open_artifact(source), None)
    assert inside
    monkeypatch.setattr(reader, "_MAX_PATHS_BYTES", sum(len(path) for path, _, _ in inside) - 1)
    with pytest.raises(CacheRefused, match="names of its files"):
        reader.read(open_artifact(source), None)


def test_facts_that_do_not_merge_in_the_memory_for_an_artifact_are_refused_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a crawl would be told, to allow more by a flag, helps nobody who imports."""

    def build(*arguments: Any, **settings: Any) -> None:
        raise UsageError("the facts do not merge: lspidx index --memory MB")

    monkeypatch.setattr(reader_merge, "build", build)
    with pytest.raises(CacheRefused, match=r"do not merge in the \d+ MB that may be used for one"):
        reader.merge([], tmp_path / "made.duckdb", cast("Any", None))
