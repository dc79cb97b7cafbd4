"""A place where artifacts are kept for others: a folder, an S3-compatible store or a web server, through fsspec.

It knows names and bytes, not what they mean (`indexer.cache.exchange` does). Nothing that comes from there is believed: how much is read
has a limit that the caller names, checked against what the store announces and again while reading; a web server may not send us to
anything but a web server, nor from https to http. No message has a password or a token.

Transient failures: S3's client tries again by itself, with growing pauses; neither fsspec nor its client does for HTTP, so `_ATTEMPTS` do.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import os
import re
import stat
import time
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from indexer.errors import CacheRefused, CacheUnreachable, LspidxError, UsageError, writes
from indexer.extras import needed_for

CONNECT_S = 20
SILENCE_S = 60
"""Without a byte."""

_SLOWEST_BYTES_PER_S = 20_000
"""On average, after the first minute: a store that is slower keeps us, and does not serve."""

_ATTEMPTS = 3
_PAUSE_S = 0.5
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_PIECE_BYTES = 1 << 20
_OURS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""What a disk says; no other network does."""

Clock = Callable[[], float]


class Forbidden(CacheUnreachable):
    """The store does not let us in; or does not tell who may not list it that there is no such file, as S3 does."""


class Remote:
    """A folder at `address`. `shown` is how it is named to people.

    Args:
        address: a path, `file://`, `s3://BUCKET/PREFIX`, `https://` or `http://`.
        token: sent to a web server as `Authorization: Bearer`, and to no server that it sends us to.
    Raises:
        UsageError: it is no such address, or a library for it is not installed.
    """

    def __init__(self, address: str, *, token: str = "", clock: Clock = time.monotonic, pause_s: float = _PAUSE_S) -> None:
        self.protocol, self._base = _parse(address)
        self.shown = _without_password(address)
        self._token = token
        self._clock = clock
        self._pause_s = pause_s
        self._failures: tuple[type[Exception], ...] = (OSError, ValueError, asyncio.TimeoutError)
        self._files = self._connect()

    def read(self, name: str, most_bytes: int, scratch: Path) -> bytes | None:
        """A small file; None if there is none of that name.

        Args:
            scratch: a folder for it while it comes.
        Raises:
            CacheRefused: it is larger. Forbidden: it may not be read, or is not there. CacheUnreachable: the store fails.
        """
        place = scratch / f"read-{uuid.uuid4().hex}"
        try:
            return place.read_bytes() if self._get(name, place, most_bytes) else None
        finally:
            place.unlink(missing_ok=True)

    def fetch(self, name: str, place: Path, most_bytes: int) -> str | None:
        """Copies a file to `place`; returns its SHA-256, or None if there is none of that name.

        Raises:
            CacheRefused: it has more than `most_bytes`. Forbidden: it may not be read, or is not there. CacheUnreachable: the store
                fails, or is too slow to wait for.
        """
        if not self._get(name, place, most_bytes):
            return None
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def write(self, name: str, content: bytes) -> None:
        """Makes or replaces a small file; who reads sees the old one or the new one.

        Raises:
            CacheUnreachable: the store fails, or may not be written.
        """
        self._repeat("writing", name, lambda: self._write(name, content))

    def put(self, name: str, source: Path) -> None:
        """Copies a file there; raises as `write`."""
        self._repeat("writing", name, lambda: self._put(name, source))

    # ---- the three kinds of store

    def _connect(self) -> Any:
        import fsspec

        with needed_for(f"'{self.shown}'", "remote"):
            kind = fsspec.get_filesystem_class(self.protocol)
        if self.protocol == "file":
            return kind(auto_mkdir=True, skip_instance_cache=True)
        import aiohttp

        self._failures = (*self._failures, aiohttp.ClientError)
        if self.protocol == "s3":
            from botocore.exceptions import BotoCoreError, ClientError

            self._failures = (*self._failures, BotoCoreError, ClientError)
            retries = {"max_attempts": _ATTEMPTS, "mode": "standard"}
            settings = {"connect_timeout": CONNECT_S, "read_timeout": SILENCE_S, "retries": retries}
            return kind(config_kwargs=settings, use_listings_cache=False, skip_instance_cache=True, max_concurrency=1)
        client = {
            "timeout": aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S),
            "headers": {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {self._token}"} if self._token else {})},
            "auto_decompress": False,  # what is small on the way must not become large here
            "trust_env": True,  # proxies, and ~/.netrc for who we are
            "trace_configs": [_no_way_out()],
        }
        return kind(client_kwargs=client, skip_instance_cache=True)

    def _patience(self, size_bytes: int) -> dict[str, float]:
        """Until when all of a store's answer must have come, in seconds, as fsspec takes it: heads can be sent by drops as well."""
        return {"timeout": SILENCE_S + size_bytes / _SLOWEST_BYTES_PER_S}

    def _place(self, name: str) -> str:
        return f"{self._base}/{name}" if name else self._base

    def _get(self, name: str, place: Path, most_bytes: int) -> bool:
        def get() -> bool:
            try:
                if self.protocol == "file":
                    self._get_local(Path(self._place(name)), place, most_bytes)
                else:
                    limit = _limit(self._named(name), most_bytes, self._clock)
                    self._files.get_file(self._place(name), str(place), callback=limit, **self._patience(most_bytes))
            except (FileNotFoundError, NotADirectoryError):
                return False
            return True

        return self._repeat("reading", name, get)

    def _get_local(self, source: Path, place: Path, most_bytes: int) -> None:
        descriptor = os.open(source, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))  # a pipe would make us wait
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise CacheRefused(f"'{self._named(source.name)}' is no regular file")
        with open(descriptor, "rb") as file, writes(place), place.open("wb") as copy:
            _require_small(self._named(source.name), os.fstat(file.fileno()).st_size, most_bytes)
            total = 0
            while piece := file.read(_PIECE_BYTES):
                total += len(piece)
                _require_small(self._named(source.name), total, most_bytes)
                copy.write(piece)

    def _write(self, name: str, content: bytes) -> None:
        if self.protocol == "file":
            with self._beside(name) as beside:
                self._files.pipe_file(beside, content)
        else:
            self._files.pipe_file(self._place(name), content, **self._patience(len(content)))

    def _put(self, name: str, source: Path) -> None:
        if self.protocol == "file":
            with self._beside(name) as beside:
                self._files.put_file(str(source), beside)
        elif self.protocol == "s3":
            self._files.put_file(str(source), self._place(name), **self._patience(source.stat().st_size))
        else:  # with its length: many servers take no upload in pieces
            size_bytes = source.stat().st_size
            headers = {"Content-Length": str(size_bytes)}
            self._files.put_file(str(source), self._place(name), method="put", headers=headers, **self._patience(size_bytes))

    @contextlib.contextmanager
    def _beside(self, name: str) -> Generator[str]:
        """A name to write under, which becomes `name` at the end; those of writers that were killed a day ago are removed."""
        place = Path(self._place(name))
        place.parent.mkdir(parents=True, exist_ok=True)
        for old in place.parent.glob("tmp-*"):
            with contextlib.suppress(OSError):
                if time.time() - old.stat().st_mtime > 86_400:
                    old.unlink()
        beside = place.with_name(f"tmp-{uuid.uuid4().hex}")
        try:
            yield str(beside)
            os.replace(beside, place)
        finally:
            beside.unlink(missing_ok=True)

    # ---- failures

    def _named(self, name: str) -> str:
        return f"{self.shown.rstrip('/')}/{name}" if name else self.shown

    def _repeat(self, doing: str, name: str, what: Callable[[], Any]) -> Any:
        """Does it, again where that may help. What the library raises becomes an error that says what to do."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return what()
            except LspidxError:
                raise
            except self._failures as error:
                if self.protocol in ("http", "https") and attempt < _ATTEMPTS and _may_pass(error):
                    time.sleep(self._pause_s * 4 ** (attempt - 1))
                    continue
                kind = Forbidden if _is_forbidden(error) else CacheUnreachable
                raise kind(self._message(f"{doing} '{self._named(name)}'", error)) from error
        raise AssertionError

    def _message(self, doing: str, error: Exception) -> str:
        said = " ".join(str(error).split()) or type(error).__name__
        for secret in filter(None, (self._token, urlsplit(self._base).password)):
            said = said.replace(secret, "***")
        status = getattr(error, "status", 0)
        if isinstance(error, OSError) and error.errno in _OURS:
            help_ = "make room, or name another place"
        elif _is_forbidden(error):
            help_ = {
                "s3": "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to a key that may do this",
                "file": "it is not yours to write or read",
            }.get(self.protocol, "set LSPIDX_CACHE_TOKEN, or user and password in ~/.netrc")
        elif (
            self.protocol in ("http", "https")
            and doing.startswith("writing")
            and (status in (405, 501) or isinstance(error, FileNotFoundError))
        ):
            help_ = "that server takes no uploads by PUT; push to a folder, to s3:// or to a server that does"
        elif isinstance(error, FileNotFoundError):
            help_ = "is there such a bucket or folder?"
        elif self.protocol == "s3":
            help_ = "is AWS_ENDPOINT_URL_S3 the store's address, and the store there?"
        else:
            help_ = "is the address right, and the store there? Nothing was changed here"
        return f"{doing} failed: {_without_password(said)[:300]}; {help_}"


def _parse(address: str) -> tuple[str, str]:
    """Protocol, and the address as fsspec wants it, without `/` at its end."""
    parts = urlsplit(address)
    if not address or "\0" in address or address.startswith(("\\\\", "//")):
        raise UsageError(f"'{address}' is no place for artifacts")
    if "::" in address or (parts.scheme in ("http", "https", "s3") and (parts.query or parts.fragment)):
        raise UsageError(f"'{_without_password(address)}' is no folder of a store: leave out what is behind '?', '#' or '::'")
    if parts.scheme in ("http", "https", "s3"):
        if not parts.netloc:
            raise UsageError(f"'{address}' names no {'bucket' if parts.scheme == 's3' else 'server'}")
        return parts.scheme, address.rstrip("/")
    if parts.scheme == "file":
        return "file", os.path.abspath(parts.path)
    if len(parts.scheme) > 1 and "://" in address:
        raise UsageError(f"'{_without_password(address)}': artifacts are kept in a folder, or at s3://, https:// or http://")
    return "file", os.path.abspath(os.path.expanduser(address))


def _without_password(text: str) -> str:
    return re.sub(r"(?<=://)[^/@\s]*@", "", text)


def _require_small(name: str, size_bytes: int, most_bytes: int) -> None:
    if size_bytes > most_bytes:
        raise CacheRefused(f"'{name}' has {size_bytes} bytes or more, and only {most_bytes} were expected; nothing of it was taken")


def _limit(name: str, most_bytes: int, clock: Clock) -> Any:
    """A callback of fsspec that ends a download: at its first piece if too much is announced, as soon as more has come, or when it crawls.

    Not when it is announced: a web server announces the page that says that there is no such file, too.
    """
    from fsspec.callbacks import Callback

    begun = clock()

    class Limit(Callback):
        def relative_update(self, inc: int = 1) -> None:
            super().relative_update(inc)
            _require_small(name, max(self.size or 0, self.value), most_bytes)
            if clock() - begun > SILENCE_S + self.value / _SLOWEST_BYTES_PER_S:
                raise CacheUnreachable(f"'{name}' is downloaded too slowly to wait for: {self.value} bytes in {clock() - begun:.0f} s")

    return Limit()


def _no_way_out() -> Any:
    """A web server may send us to another, never from https to http, nor to files or anything else."""
    import aiohttp

    async def follow(session: Any, context: Any, parameters: Any) -> None:
        headers = parameters.response.headers
        here = str(parameters.url)
        there = urljoin(here, headers.get("Location") or headers.get("URI") or "")
        allowed = ("https",) if urlsplit(here).scheme == "https" else ("https", "http")
        if urlsplit(there).scheme not in allowed:
            raise CacheRefused(
                f"'{_without_password(here)}' sends us to '{_without_password(there)[:200]}', where no artifact is read from"
            )

    config = aiohttp.TraceConfig()
    config.on_request_redirect.append(follow)
    return config


def _is_forbidden(error: Exception) -> bool:
    return getattr(error, "status", 0) in (401, 403) or isinstance(error, PermissionError) or type(error).__name__ == "NoCredentialsError"


def _may_pass(error: Exception) -> bool:
    """Whether the same request may go well the next time."""
    status = getattr(error, "status", 0)
    if status:
        return status in _TRANSIENT
    if isinstance(error, OSError) and error.errno in _OURS:
        return False
    return not isinstance(error, PermissionError | FileNotFoundError | ValueError)
