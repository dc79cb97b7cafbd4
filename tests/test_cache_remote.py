"""Pushing and pulling an index: to a folder, a web server and S3 stores on loopback, and what hostile or broken ones send."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cache_support import bring, clone, export, state, tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from query_support import FILES, json_of, lspidx
from remote_support import SECRET, Handler, WebServer, aws, free_port, object_store, serving
from support import crawl_with_ty, write_tree

from indexer.cache import exchange
from indexer.cache import remote as remotes
from indexer.cache.exchange import COMMITS, FOLDER, Pointer, Received, Sent, pull, push
from indexer.cache.remote import Remote
from indexer.config import Config
from indexer.errors import CacheMissing, CacheRefused, CacheUnreachable, LspidxError, UsageError
from indexer.store.generations import Home
from query.facts.index import open_index

pytest_plugins = ["query_fixtures"]
pytestmark = pytest.mark.usefixtures("forked_readers")


def _git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    return subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop in git, indexed at its second commit. Nobody writes to it: see `working`."""
    root = write_tree(tmp_path_factory.mktemp("pushed") / "shop", FILES)
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "first")
    _git(root, "commit", "-q", "--allow-empty", "-m", "second")
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture
def working(repository: Path, tmp_path: Path) -> Path:
    """The repository with its index, to be changed."""
    return shutil.copytree(repository, tmp_path / "working" / "shop", symlinks=True)


@pytest.fixture
def fresh(repository: Path, tmp_path: Path) -> Path:
    """A clone without an index, two commits further on."""
    _git(tmp_path, "clone", "-q", str(repository), "fresh/shop")
    root = tmp_path / "fresh" / "shop"
    for name in ("third", "fourth"):
        _git(root, "commit", "-q", "--allow-empty", "-m", name)
    return root


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """The endpoint of an S3 store by its kind; each is started when it is first asked for."""
    import contextlib

    with contextlib.ExitStack() as running:
        endpoints: dict[str, str] = {}

        def endpoint(kind: str) -> str:
            if kind not in endpoints:
                endpoints[kind] = running.enter_context(object_store(kind, tmp_path_factory.mktemp(kind)))
            return endpoints[kind]

        yield endpoint


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebServer]:
    with serving(tmp_path / "served") as server:
        yield server


@pytest.fixture
def served(tmp_path: Path, repository: Path, web: WebServer) -> Path:
    """The folder of the web server, with the index of the repository; below it is what a test may spoil."""
    _push(repository, str(tmp_path / "served"))
    return tmp_path / "served" / FOLDER


def _push(root: Path, store: str, **options: Any) -> Sent:
    with open_index(root) as index:
        return push(index.home, index.rows, Remote(store, pause_s=0), **options)


def _pull(root: Path, store: str, **options: Any) -> Received:
    return pull(Home(root), Config(), Remote(store, pause_s=0), **options)


def _refusal(root: Path, store: str, kind: type[LspidxError] = CacheRefused, **options: Any) -> str:
    """The reason; and nothing has changed here, nor lies about."""
    Home(root).create()
    before = state(root)
    with pytest.raises(kind) as caught:
        _pull(root, store, **options)
    assert {name: content for name, content in state(root).items() if name != "exchange/lock"} == before
    return str(caught.value)


def _head(root: Path, commit: str = "HEAD") -> str:
    return _git(root, "rev-parse", commit)


# ---- every kind of store


@pytest.mark.parametrize("kind", ["folder", "web", "moto", "versitygw"])
def test_what_was_pushed_is_pulled(
    kind: str, repository: Path, fresh: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "folder":
        store = str(tmp_path / "store")
    elif kind == "web":
        store = request.getfixturevalue("web").url + "/team/shop/"
    else:
        for name, value in aws(request.getfixturevalue("stores")(kind)).items():
            monkeypatch.setenv(name, value)
        store = "s3://indexes/team/shop"
    with pytest.raises(CacheMissing, match="has no index that this lspidx reads"):
        _pull(fresh, store)
    first = _push(repository, store)
    assert first.uploaded
    commit = _head(repository)
    assert first.pointers == [f"commits/{commit}.json", "branches/main.json", "latest.json"]
    done = _pull(fresh, store)
    assert (done.via, done.behind, done.kept) == ("ancestor", 2, "")
    assert done.imported is not None
    assert done.imported.checked.changed == []
    assert tables(fresh) == tables(repository)
    assert _pull(fresh, store).kept == "this very artifact is the index here"
    assert not _push(repository, store).uploaded
    assert [path.name for path in (fresh / ".lspidx/exchange").iterdir()] == ["lock"]


@pytest.mark.parametrize("kind", ["moto", "versitygw"])
def test_a_large_artifact_goes_to_s3_and_back(
    kind: str, stores: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several parts each way; and no more of it comes than was asked for."""
    for name, value in aws(stores(kind)).items():
        monkeypatch.setenv(name, value)
    large = tmp_path / "large"
    large.write_bytes(os.urandom(60_000_000))
    remote = Remote("s3://indexes/large")
    remote.put("a.tar", large)
    assert remote.fetch("a.tar", tmp_path / "back", 60_000_000) is not None
    assert (tmp_path / "back").read_bytes() == large.read_bytes()
    with pytest.raises(CacheRefused, match="has 60000000 bytes or more, and only 59999999 were expected"):
        remote.fetch("a.tar", tmp_path / "back", 59_999_999)
    assert remote.fetch("b.tar", tmp_path / "back", 1) is None


def test_s3_says_what_is_wrong(stores: Callable[[str], str], repository: Path, tmp_path: Path) -> None:
    """A wrong secret, no such bucket, nobody there, no key at all: each by the command, none with the secret."""
    endpoint = stores("versitygw")
    path = {"PATH": os.environ["PATH"]}
    for environment, bucket, reason in (
        (aws(endpoint, secret="wrongsecret"), "indexes", "AWS_PROFILE"),
        (aws(endpoint), "nothere", "failed"),
        (aws(f"http://127.0.0.1:{free_port()}"), "indexes", "AWS_ENDPOINT_URL_S3"),
        ({key: value for key, value in aws(endpoint).items() if "KEY" not in key}, "indexes", "AWS_PROFILE"),
    ):
        done = lspidx("cache", "push", f"s3://{bucket}/x", cwd=repository, env={**path, **environment})
        assert done.returncode == 4, done.stderr
        assert reason in done.stderr
        assert "Traceback" not in done.stderr
        assert SECRET not in done.stderr
        assert "wrongsecret" not in done.stderr


# ---- which index is found


def test_the_nearest_ancestor_is_taken_then_the_branch_then_the_latest(working: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    for name in ("a", "b"):
        write_tree(working, {f"{name}.py": "x = 1\n"})
        _git(working, "add", "-A")
        _git(working, "commit", "-q", "-m", name)
        crawl_with_ty(working, jobs=1)
        _push(working, store)
    commit_a, commit_b = _head(working, "HEAD~1"), _head(working)
    _git(tmp_path, "clone", "-q", str(working), "there")
    there = tmp_path / "there"

    def found(commit: str, **options: Any) -> tuple[str, str, int | None]:
        _git(there, "reset", "-q", "--hard", commit)
        shutil.rmtree(there / ".lspidx", ignore_errors=True)
        done = _pull(there, store, **options)
        assert done.pointer is not None
        assert done.imported is not None
        assert done.imported.checked.manifest.commit == done.pointer.commit
        return done.via, done.pointer.commit, done.behind

    assert found(commit_b) == ("commit", commit_b, 0)
    assert found(commit_a) == ("commit", commit_a, 0)
    _git(there, "reset", "-q", "--hard", commit_a)
    _git(there, "commit", "-q", "--allow-empty", "-m", "beside")
    beside = _head(there)
    assert found(beside) == ("ancestor", commit_a, 1)
    _push(working, store, branch="feature/ö x")
    assert found(f"{commit_a}~1", branch="feature/ö x") == ("branch", commit_b, None)
    assert found(f"{commit_a}~1", branch="nobody") == ("latest", commit_b, None)


def test_no_more_than_so_many_commits_are_looked_for(fresh: Path, served: Path, web: WebServer) -> None:
    """The pushed one is one commit too far away: the branch leads to it; one nearer, and it is found by itself."""
    tree = _git(fresh, "rev-parse", "HEAD^{tree}")
    base = _head(fresh, "HEAD~2")
    commit = base
    for number in range(COMMITS + 1):
        commit = _git(fresh, "commit-tree", "-p", commit, "-m", str(number), tree)
    _git(fresh, "reset", "-q", "--hard", commit)
    assert (_pull(fresh, web.url).via, len([path for _, path, _ in web.seen if "/commits/" in path])) == ("branch", COMMITS + 1)
    _git(fresh, "reset", "-q", "--hard", "HEAD~1")
    done = _pull(fresh, web.url, force=True)
    assert (done.via, done.behind) == ("ancestor", COMMITS)


def test_a_shallow_clone_and_a_folder_without_git_take_the_latest(repository: Path, fresh: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    _push(repository, store)
    _git(tmp_path, "clone", "-q", "--depth", "1", fresh.as_uri(), "shallow")
    _git(tmp_path / "shallow", "checkout", "-q", "--detach")
    plain = write_tree(tmp_path / "plain", FILES)
    for root in (tmp_path / "shallow", plain):
        done = _pull(root, store)
        assert (done.via, done.behind) == ("latest", None)
        assert done.imported is not None


def test_an_index_without_git_is_pushed_and_pulled(shop_root: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    assert _push(shop_root, store).pointers == ["latest.json"]
    there = clone(shop_root, tmp_path / "there")
    assert _pull(there, store).via == "latest"
    assert tables(there) == tables(shop_root)


def test_an_index_that_is_as_near_stays(working: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    _push(working, store)
    _git(working, "commit", "-q", "--allow-empty", "-m", "third")
    before = state(working)
    assert "as near to HEAD" in _pull(working, store).kept
    crawl_with_ty(working, jobs=1, full=True)
    assert "as near to HEAD" in _pull(working, store).kept
    assert state(working) != before
    assert _pull(working, store, force=True).imported is not None


def test_uncommitted_changes_are_not_pushed_unasked(working: Path, tmp_path: Path) -> None:
    write_tree(working, {"shop/extra.py": "x = 1\n"})
    crawl_with_ty(working, jobs=1)
    with pytest.raises(UsageError, match="not committed"):
        _push(working, str(tmp_path / "store"))
    assert not (tmp_path / "store").exists()
    assert _push(working, str(tmp_path / "store"), allow_dirty=True).pointer.dirty


def test_one_store_is_of_one_repository(repository: Path, fresh: Path, shop_root: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    _push(repository, store)
    other = clone(shop_root, tmp_path / "other")
    _git(other, "init", "-q")
    _git(other, "add", "-A")
    _git(other, "commit", "-q", "-m", "another beginning")
    crawl_with_ty(other, jobs=1)
    with pytest.raises(UsageError, match="another repository"):
        _push(other, store)
    assert "another repository" in _refusal(other, store, force=True)
    assert _pull(fresh, store).imported is not None


def test_a_file_is_pulled_by_its_address(repository: Path, fresh: Path, tmp_path: Path, web: WebServer) -> None:
    export(repository, tmp_path / "served" / "index.tar")
    assert _pull(fresh, f"{web.url}/index.tar").via == "file"
    assert tables(fresh) == tables(repository)
    assert "bytes or more, and only 1000 were expected" in _refusal(fresh, f"{web.url}/index.tar", most_bytes=1_000)
    assert "there is no" in _refusal(fresh, f"{web.url}/nothing.tar", CacheMissing)


def test_by_the_command_line(repository: Path, fresh: Path, tmp_path: Path) -> None:
    """With the place in the configuration, as JSON and as text; errors too."""
    git = {"PATH": os.environ["PATH"]}
    store = tmp_path / "store"
    pushed = json_of(lspidx("cache", "push", str(store), "--json", cwd=repository, env=git))
    assert (pushed["commit"], pushed["uploaded"]) == (_head(repository), True)
    assert (store / FOLDER / "artifacts" / pushed["artifact"]).stat().st_size == pushed["bytes"]
    write_tree(fresh, {"lspidx.toml": f"cache_remote = '{store}'\n"})
    unasked = lspidx("cache", "pull", cwd=fresh, env=git)
    assert (unasked.returncode, f"lspidx cache pull {store}" in unasked.stderr) == (2, True)  # the project's word is not the user's
    text = lspidx("cache", "pull", str(store), cwd=fresh, env=git)
    assert "2 commits behind HEAD" in text.stdout, text.stderr
    found = json_of(lspidx("cache", "pull", "--force", "--json", cwd=fresh, env=git))
    assert (found["via"], found["behind"], found["imported"]["same"]) == ("ancestor", 2, len(FILES))
    missing = lspidx("cache", "pull", str(tmp_path / "nowhere"), "--json", cwd=fresh, env=git)
    assert (missing.returncode, json_of(missing)["error"]["code"]) == (4, "cache_missing")
    (fresh / "lspidx.toml").unlink()
    unnamed = lspidx("cache", "pull", cwd=fresh, env=git)
    assert (unnamed.returncode, "no store is named" in unnamed.stderr) == (2, True)


# ---- what a store may send


def _pointers(served: Path) -> list[Path]:
    return [*served.glob("commits/*.json"), *served.glob("branches/*.json"), served / "latest.json"]


def _spoil(served: Path, **changes: Any) -> None:
    for pointer in _pointers(served):
        pointer.write_text(json.dumps({**json.loads(pointer.read_text()), **changes}))


@pytest.mark.parametrize(
    "name",
    [
        "../../secret.tar",
        "../latest.json",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1:1/x.tar",
        "..\\x.tar",
        "",
        "x\0.tar",
        "%2e%2e/x.tar",
    ],
)
def test_a_pointer_that_leads_elsewhere(name: str, served: Path, fresh: Path, web: WebServer) -> None:
    _spoil(served, artifact=name)
    assert "no name of an artifact" in _refusal(fresh, web.url)
    assert not any(path.endswith(".tar") for _, path, _ in web.seen)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "itself"])
def test_a_folder_with_what_is_no_file(kind: str, served: Path, fresh: Path, tmp_path: Path) -> None:
    """None of them is waited for, or read for ever."""
    for pointer in _pointers(served):
        pointer.unlink()
        if kind == "pipe":
            os.mkfifo(pointer)
        elif kind == "folder":
            pointer.mkdir()
        else:
            os.symlink("/dev/zero" if kind == "device" else pointer.name, pointer)
    message = _refusal(fresh, str(served.parent), CacheUnreachable if kind == "itself" else CacheRefused)
    assert ("failed" if kind == "itself" else "is no regular file") in message


def test_pointers_that_are_none(served: Path, fresh: Path, web: WebServer) -> None:
    good = json.loads((served / "latest.json").read_text())
    for content, reason in (
        (b"", "cannot be read"),
        (b"[" * 90_000, "cannot be read"),
        (b"{" + b" " * 200_000 + b"}", "bytes or more, and only 100000 were expected"),
        (json.dumps({**good, "more": 1}).encode(), "cannot be read"),
        (json.dumps({**good, "size_bytes": 1 << 60}).encode(), "cannot be read"),
        (json.dumps({**good, "size_bytes": -1}).encode(), "cannot be read"),
        (json.dumps({**good, "sha256": "0" * 64}).encode(), "no name of an artifact"),
        (
            json.dumps({**good, "commit": "0" * 40, "artifact": f"{'0' * 40}-{good['sha256'][:16]}.tar"}).encode(),
            "leads to the artifact of",
        ),
    ):
        for pointer in _pointers(served):
            pointer.write_bytes(content)
        assert reason in _refusal(fresh, web.url)


class _Says:
    """A store that answers every name with the same bytes."""

    shown = "store"

    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self, name: str, most_bytes: int, scratch: Path) -> bytes:
        return self.content[:most_bytes]


_ODD = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=80), st.just("../x"), st.lists(st.text(max_size=50), max_size=3))


@settings(max_examples=1_500, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fuzzed_pointers_are_refused_or_name_an_artifact(data: st.DataObject) -> None:
    """Bytes changed, cut and put in, fields that are something else."""
    commit, digest = "1" * 40, "2" * 64
    good = {
        "artifact": f"{commit}-{digest[:16]}.tar", "commit": commit, "dirty": False, "manifest": "3" * 64, "origins": ["4" * 40],
        "sha256": digest, "size_bytes": 9,
    }  # fmt: skip
    assert exchange._pointer(_Says(json.dumps(good).encode()), "latest.json", Path()) is not None  # type: ignore[arg-type]
    if data.draw(st.booleans()):
        raw = json.dumps({**good, data.draw(st.sampled_from([*good, "more"])): data.draw(_ODD)}).encode()
    else:
        content = json.dumps(good).encode()
        start = data.draw(st.integers(0, len(content)))
        raw = content[:start] + data.draw(st.binary(max_size=20)) + content[data.draw(st.integers(start, len(content))) :]
    try:
        found = exchange._pointer(_Says(raw), "latest.json", Path())  # type: ignore[arg-type]
    except CacheRefused:
        return
    assert found is not None
    assert re.fullmatch(r"([0-9a-f]{40}|[0-9a-f]{64}|none)-[0-9a-f]{16}\.tar", found.artifact)
    assert 0 < found.size_bytes <= 4_000_000_000


def test_an_artifact_of_another_commit(served: Path, fresh: Path, web: WebServer) -> None:
    """Its name says what the pointer says; its manifest does not."""
    [artifact] = served.glob("artifacts/*.tar")
    wrong = _head(fresh)
    name = f"{wrong}-{artifact.stem[-16:]}.tar"
    artifact.rename(artifact.with_name(name))
    (served / "commits" / f"{wrong}.json").write_text(
        json.dumps({**json.loads((served / "latest.json").read_text()), "commit": wrong, "artifact": name})
    )
    assert f"it was to be of '{wrong}'" in _refusal(fresh, web.url)


@pytest.mark.parametrize("change", ["changed", "shorter", "longer", "empty"])
def test_an_artifact_that_is_not_what_the_pointer_describes(change: str, served: Path, fresh: Path, web: WebServer) -> None:
    [artifact] = served.glob("artifacts/*.tar")
    content = artifact.read_bytes()
    middle = len(content) // 2
    artifact.write_bytes(
        {
            "changed": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            "shorter": content[:middle],
            "longer": content + bytes(512),
            "empty": b"",
        }[change]
    )
    assert ("were expected" if change == "longer" else "damaged, cut short or changed") in _refusal(fresh, web.url)


def test_a_lost_artifact(served: Path, fresh: Path, web: WebServer) -> None:
    [artifact] = served.glob("artifacts/*.tar")
    artifact.unlink()
    assert "has lost" in _refusal(fresh, web.url, CacheMissing)


def _truncated(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "10000")
    handler.end_headers()
    handler.wfile.write(b"x" * 5_000)
    handler.close_connection = True


def _announced_flood(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 40))
    handler.end_headers()
    _flood(handler)


def _unannounced_flood(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    _flood(handler)


def _flood(handler: Handler) -> None:
    """Until the other side has had enough."""
    sent = 0
    try:
        while sent < 2_000_000_000:
            handler.wfile.write(bytes(1 << 16))
            sent += 1 << 16
    except OSError:
        pass
    handler.server.sent.put(sent)


def _compressed_flood(handler: Handler) -> None:
    import gzip

    handler.say(200, gzip.compress(bytes(500_000_000), 1), Content_Encoding="gzip")


@pytest.mark.parametrize("answer", [_announced_flood, _unannounced_flood, _compressed_flood], ids=lambda answer: answer.__name__)
@pytest.mark.parametrize("part", [".tar", "latest.json"])
def test_a_flood_is_not_waited_for(answer: Callable[[Handler], None], part: str, served: Path, fresh: Path, web: WebServer) -> None:
    if part == "latest.json":
        for pointer in _pointers(served)[:-1]:
            pointer.unlink()
    web.answers[part] = answer
    assert "were expected" in _refusal(fresh, web.url)
    if answer is not _compressed_flood:
        assert web.sent.get(timeout=60) < 200_000_000


def test_a_download_that_breaks_off_is_tried_again_and_then_given_up(served: Path, fresh: Path, web: WebServer) -> None:
    web.answers[".tar"] = _truncated
    message = _refusal(fresh, web.url, CacheUnreachable)
    assert "is the address right" in message
    assert len([path for _, path, _ in web.seen if path.endswith(".tar")]) == 3


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_store_that_is_busy_is_asked_again(status: int, served: Path, fresh: Path, web: WebServer) -> None:
    left = [1, 1]

    def busy(handler: Handler) -> None:
        if left:
            left.pop()
            handler.say(status, b"wait")
        else:
            web.answers.clear()
            handler.do_GET()

    web.answers[".tar"] = busy
    assert _pull(fresh, web.url).imported is not None
    assert left == []


def test_a_download_that_crawls_is_given_up(served: Path, fresh: Path, web: WebServer) -> None:
    """By a clock on which every look takes a minute."""
    now = iter(range(0, 10_000_000, 60))
    with pytest.raises(CacheUnreachable, match="too slowly"):
        pull(Home(fresh), Config(), Remote(web.url, clock=lambda: next(now), pause_s=0))


def test_a_store_that_sends_the_head_of_its_answer_by_drops_is_given_up(
    served: Path, fresh: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a download has begun, and never silent for so long that this would end it."""
    monkeypatch.setattr(remotes, "SILENCE_S", 0.5)
    ended = threading.Event()
    drops = 200

    def drip(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drops: ")
        for _ in range(drops):
            if ended.wait(0.05):
                return
            try:
                handler.wfile.write(b"x")
            except OSError:  # the client has gone
                return
        handler.wfile.write(b"\r\nContent-Length: 0\r\n\r\n")

    web.answers[FOLDER] = drip
    try:
        with pytest.raises(CacheUnreachable, match="reading"):
            pull(Home(fresh), Config(), Remote(web.url, pause_s=0))
    finally:
        ended.set()


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "gopher://127.0.0.1/x", "javascript:1", "s3://indexes/x"]
)
def test_a_redirect_to_something_that_is_no_web_server(target: str, served: Path, fresh: Path, web: WebServer) -> None:
    web.answers[".tar"] = lambda handler: handler.say(302, Location=target)
    assert "where no artifact is read from" in _refusal(fresh, web.url)


def test_a_redirect_to_another_web_server_is_followed_without_the_token(served: Path, fresh: Path, web: WebServer, tmp_path: Path) -> None:
    with serving(tmp_path / "served2") as other:
        shutil.copytree(served, tmp_path / "served2" / FOLDER)
        web.answers[".tar"] = lambda handler: handler.say(302, Location=f"{other.url}{handler.path}")
        done = pull(Home(fresh), Config(), Remote(web.url, token="verysecret"))
        assert done.imported is not None
        [(_, path, headers)] = other.seen
        assert path.endswith(".tar")
        assert "Authorization" not in headers
    assert {headers.get("Authorization") for _, _, headers in web.seen} == {"Bearer verysecret"}


def test_redirects_in_a_circle_end(served: Path, fresh: Path, web: WebServer) -> None:
    web.answers[".tar"] = lambda handler: handler.say(302, Location=handler.path)
    assert "failed" in _refusal(fresh, web.url, CacheUnreachable)


def test_https_does_not_become_http(repository: Path, fresh: Path, served: Path, web: WebServer, tmp_path: Path) -> None:
    """A server with a certificate of its own, which the command is told to trust: it serves, until it sends us to one without."""
    import ssl

    _certificate(tmp_path / "cert.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem")
    with serving(tmp_path / "served") as secure:
        secure.socket = context.wrap_socket(secure.socket, server_side=True)
        url = secure.url.replace("http:", "https:")
        environment = {"PATH": os.environ["PATH"], "SSL_CERT_FILE": str(tmp_path / "cert.pem")}
        assert lspidx("cache", "pull", url, "--json", cwd=fresh, env={"PATH": environment["PATH"]}).returncode == 4  # not trusted
        good = lspidx("cache", "pull", url, "--json", cwd=fresh, env=environment)
        assert json_of(good)["via"] == "ancestor", good.stderr
        secure.answers[".tar"] = lambda handler: handler.say(302, Location=f"{web.url}{handler.path}")
        bad = lspidx("cache", "pull", url, "--force", cwd=fresh, env=environment)
        assert (bad.returncode, "where no artifact is read from" in bad.stderr) == (4, True)
    assert not any(path.endswith(".tar") for _, path, _ in web.seen)


def _certificate(place: Path) -> None:
    import ipaddress
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "here")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.Encoding.PEM
    private = key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    place.write_bytes(private + made.public_bytes(form))


# ---- who cannot be reached, and what is said of it


@pytest.mark.parametrize("address", ["http://somebody:verysecret@127.0.0.1:{port}/x", "http://somebody:verysecret@host.invalid/x"])
def test_nobody_there(address: str, fresh: Path, repository: Path) -> None:
    address = address.format(port=free_port())
    for arguments, root in ((("pull",), fresh), (("push",), repository)):
        done = lspidx("cache", *arguments, address, cwd=root, env={"PATH": os.environ["PATH"], "LSPIDX_CACHE_TOKEN": "tokentoken"})
        assert done.returncode == 4
        assert "is the address right" in done.stderr
        for secret in ("verysecret", "tokentoken", "Traceback"):
            assert secret not in done.stdout + done.stderr


@pytest.mark.parametrize("status", [401, 403])
def test_nobody_lets_us_in(status: int, repository: Path, fresh: Path, web: WebServer) -> None:
    web.refuses_writing = status
    with pytest.raises(CacheUnreachable, match="LSPIDX_CACHE_TOKEN") as caught:
        _push(repository, web.url.replace("//", "//somebody:verysecret@"))
    assert "verysecret" not in str(caught.value)
    web.answers["/"] = lambda handler: handler.say(status)
    assert "LSPIDX_CACHE_TOKEN" in _refusal(fresh, web.url, CacheUnreachable)


@pytest.mark.parametrize("status", [403, 404])
def test_what_is_not_there_may_be_forbidden_or_come_with_a_long_page(
    status: int, repository: Path, served: Path, fresh: Path, web: WebServer, tmp_path: Path
) -> None:
    """S3 says 403 of what is not there to whoever may not list; a web server may say 404 at any length."""
    web.answers["/commits/"] = web.answers["/branches/"] = lambda handler: handler.say(status, bytes(1_000_000))
    assert _pull(fresh, web.url).via == "latest"
    empty = f"{web.url}/empty"

    def missing(handler: Handler) -> None:
        if Path(handler.translate_path(handler.path)).exists():
            SimpleHTTPRequestHandler.do_GET(handler)
        else:
            handler.say(status, bytes(1_000_000))

    web.answers = {"/empty/": missing}
    assert _push(repository, empty).uploaded
    assert _pull(fresh, empty, force=True).via == "ancestor"


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_that_takes_no_uploads(status: int, repository: Path, web: WebServer) -> None:
    web.refuses_writing = status
    with pytest.raises(CacheUnreachable, match="takes no uploads"):
        _push(repository, web.url)


@pytest.mark.parametrize(
    "address",
    [
        "", "ftp://host/x", "gs://bucket/x", "data://x", "simplecache::s3://b/x",
        "filecache::http://h/x", "s3:///x", "http:///x", "//host/share",
        "\\\\host\\share", "https://h/x?token=1",
        "x\0y",
    ],
)  # fmt: skip
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(UsageError):
        Remote(address)


@pytest.mark.parametrize(
    ("library", "address"), [("s3fs", "s3://bucket/x"), ("aiohttp", "https://localhost/x"), ("aiohttp", "s3://bucket/x")]
)
def test_what_is_not_installed_is_named(fresh: Path, library: str, address: str) -> None:
    code = f"import sys; sys.modules['{library}'] = None; from query.cli import main; main()"
    command = [sys.executable, "-c", code, "cache", "pull", address]
    done = subprocess.run(command, cwd=fresh, capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'lspidx[remote]'" in done.stderr) == (2, True), done.stderr


def test_a_store_that_is_a_folder_needs_no_extra(repository: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['s3fs'] = sys.modules['aiohttp'] = None; from query.cli import main; main()"
    command = [sys.executable, "-c", code, "cache", "push", str(tmp_path / "store")]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- writing


def test_what_is_not_given_back_is_not_pointed_to(repository: Path, web: WebServer, tmp_path: Path) -> None:
    web.change = lambda content: content[:-1]
    with pytest.raises(CacheUnreachable, match="gives back something else"):
        _push(repository, web.url)
    assert [path.suffix for path in (tmp_path / "served").rglob("*") if path.is_file()] == [".tar"]


def test_a_damaged_artifact_is_replaced_by_the_next_push(repository: Path, fresh: Path, served: Path, tmp_path: Path) -> None:
    [artifact] = served.glob("artifacts/*.tar")
    content = artifact.read_bytes()
    for damaged in (content[:-1], content[:-1] + b"x", content + b"x"):
        artifact.write_bytes(damaged)
        assert _push(repository, str(served.parent)).uploaded
        assert artifact.read_bytes() == content
    (served / "latest.json").write_text("{")
    _push(repository, str(served.parent))
    assert _pull(fresh, str(served.parent)).imported is not None


@pytest.mark.parametrize("repetition", range(4))
def test_two_push_at_once(repetition: int, working: Path, fresh: Path, tmp_path: Path) -> None:
    """The same commit, indexed differently, over and over: every pointer leads to a whole artifact all the time, and none is left half."""
    other = shutil.copytree(working, tmp_path / "other" / "shop", symlinks=True)
    write_tree(other, {"lspidx.toml": 'exclude = ["tests"]\n'})
    crawl_with_ty(other, jobs=1, exclude=("tests",))
    store = tmp_path / "store"
    _push(working, str(store))
    ended = threading.Event()
    seen: set[str] = set()

    def read() -> None:
        while not ended.is_set():
            for name in (f"commits/{_head(fresh, 'HEAD~2')}.json", "latest.json"):
                pointer = exchange._pointer(Remote(str(store)), name, tmp_path)
                assert pointer is not None
                assert Remote(str(store)).fetch(f"{FOLDER}/artifacts/{pointer.artifact}", tmp_path / "read.tar", 1 << 30) == pointer.sha256
                seen.add(pointer.sha256)

    with ThreadPoolExecutor(5) as threads:
        reader = threads.submit(read)
        pushes = [threads.submit(_push, root, str(store), allow_dirty=True) for root in (working, other) * 4]
        for done in pushes:
            done.result()
        ended.set()
        reader.result()
    assert seen
    assert sorted(path.name for path in (store / FOLDER / "artifacts").iterdir()) == sorted(
        {done.result().pointer.artifact for done in pushes}
    )
    assert not list(store.rglob("tmp-*"))
    assert _pull(fresh, str(store)).imported is not None


def test_what_killed_writers_left_is_removed_after_a_day(repository: Path, served: Path) -> None:
    old, new = served / "tmp-old", served / "tmp-new"
    for place in (old, new):
        place.write_bytes(b"half")
    os.utime(old, (0, 0))
    _push(repository, str(served.parent))
    assert (old.exists(), new.exists()) == (False, True)


def test_a_pointer_reads_as_it_was_written(repository: Path, tmp_path: Path) -> None:
    sent = _push(repository, str(tmp_path / "store"))
    for name in sent.pointers:
        raw = (tmp_path / "store" / FOLDER / name).read_bytes()
        assert Pointer.to_json(sent.pointer) == raw
    assert bring(tmp_path / "store" / FOLDER / "artifacts" / sent.pointer.artifact, clone(repository, tmp_path / "there")).checked.same
