"""Who made an artifact: what a trusted key signed is taken, with OpenSSH's own tool on the other side; all else is refused."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cache_support import FIRST, Rows, clone, contents, export, signed, state, tables, with_rows, write_folder, write_tar
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from query_support import json_of, lspidx
from support import write_tree

from indexer.cache import signature
from indexer.cache.artifact import MANIFEST, SIGNATURE
from indexer.cache.unpack import check, unpack
from indexer.config import Config, load_config
from indexer.errors import CacheRefused, UsageError
from indexer.store.generations import Home

pytest_plugins = ["query_fixtures"]
pytestmark = pytest.mark.usefixtures("forked_readers")

Files = dict[str, bytes]
needs_openssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH's ssh-keygen is not installed")


def _key(folder: Path, name: str) -> Path:
    """A private key at `name`, its public one at `name.pub`."""
    private = Ed25519PrivateKey.generate()
    form = serialization.PrivateFormat.OpenSSH
    (folder / name).write_bytes(private.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    (folder / name).chmod(0o600)
    public = private.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    (folder / f"{name}.pub").write_bytes(public + b" somebody@here\n")
    return folder / name


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys `ours` and `theirs`."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ours", "theirs"):
        _key(folder, name)
    return folder


@pytest.fixture(scope="module")
def files(shop_root: Path, keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """An artifact that `ours` has signed, by name."""
    return contents(export(shop_root, tmp_path_factory.mktemp("signed") / "artifact", profile="git", key=keys / "ours"))


@pytest.fixture
def config(keys: Path) -> Config:
    return Config(trusted_keys=(str(keys / "ours.pub"),))


@pytest.fixture
def refused(shop_root: Path, config: Config, tmp_path: Path) -> Callable[[Files], str]:
    """Tries to import as a folder and as a tar file; returns the reasons."""
    there = clone(shop_root, tmp_path / "victim")
    Home(there).create()
    before = state(there)
    number = iter(range(100_000))

    def attempt(files: Files) -> str:
        name = str(next(number))
        reasons: list[str] = []
        for source in (write_folder(tmp_path / name, files), write_tar(tmp_path / f"{name}.tar", files)):
            with pytest.raises(CacheRefused) as caught:
                unpack(source, Home(there), config)
            reasons.append(str(caught.value))
            assert state(there) == before
        return "\n".join(reasons)

    return attempt


# ---- what is taken


@pytest.mark.parametrize("form", ["folder", "index.tar"])
def test_a_signed_artifact_is_imported_and_says_by_whom(form: str, shop_root: Path, keys: Path, config: Config, tmp_path: Path) -> None:
    made = export(shop_root, tmp_path / form, key=keys / "ours")
    there = clone(shop_root, tmp_path / "there")
    done = unpack(made, Home(there), config)
    assert done.checked.signed_by == signature.fingerprint((keys / "ours.pub").read_text())
    assert tables(there) == tables(shop_root)
    unpack(made, Home(there), Config())  # who trusts nobody in particular takes it too


def test_the_same_key_gives_the_same_bytes(shop_root: Path, keys: Path, files: Files, tmp_path: Path) -> None:
    again = contents(export(shop_root, tmp_path / "artifact", profile="git", key=keys / "ours"))
    assert SIGNATURE in again
    assert again == files
    assert contents(export(shop_root, tmp_path / "artifact", profile="git")) == {
        name: content for name, content in files.items() if name != SIGNATURE
    }


@needs_openssh
def test_openssh_agrees(files: Files, keys: Path, config: Config, shop_root: Path, tmp_path: Path) -> None:
    """Its own tool verifies our signature, and its own signatures are taken, whichever hash it was told to use."""
    (tmp_path / "allowed").write_text(f'team namespaces="lspidx-cache" {(keys / "ours.pub").read_text()}')
    folder = write_folder(tmp_path / "artifact", files)
    verify = ["ssh-keygen", "-Y", "verify", "-f", str(tmp_path / "allowed"), "-I", "team", "-n", "lspidx-cache"]
    done = subprocess.run([*verify, "-s", str(folder / SIGNATURE)], input=files[MANIFEST], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    there = clone(shop_root, tmp_path / "there")
    for hash_name in ("sha512", "sha256"):
        (folder / SIGNATURE).unlink()
        sign = ["ssh-keygen", "-Y", "sign", "-n", "lspidx-cache", "-O", f"hashalg={hash_name}", "-f", str(keys / "ours")]
        subprocess.run([*sign, str(folder / MANIFEST)], check=True, capture_output=True)
        assert check(folder, there, config).signed_by
        assert ((folder / SIGNATURE).read_bytes() == files[SIGNATURE]) == (hash_name == "sha512")


@needs_openssh
def test_a_key_of_openssh_signs(shop_root: Path, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    made = export(shop_root, tmp_path / "artifact", key=tmp_path / "key")
    assert check(made, shop_root, Config(trusted_keys=((tmp_path / "key.pub").read_text().strip(),))).signed_by


def test_any_of_several_keys_will_do(files: Files, keys: Path, shop_root: Path, tmp_path: Path) -> None:
    (tmp_path / "team").write_text(f"# of the team\n\n{(keys / 'theirs.pub').read_text()}{(keys / 'ours.pub').read_text()}")
    folder = write_folder(tmp_path / "artifact", files)
    assert check(folder, shop_root, Config(trusted_keys=(str(tmp_path / "team"),))).signed_by
    with pytest.raises(CacheRefused, match="none of the trusted keys"):
        check(folder, shop_root, Config(trusted_keys=(str(keys / "theirs.pub"),)))


# ---- attacks


def test_an_artifact_without_a_signature(files: Files, refused: Callable[[Files], str]) -> None:
    assert "is not signed" in refused({name: content for name, content in files.items() if name != SIGNATURE})


def test_a_signature_by_somebody_else(files: Files, keys: Path, refused: Callable[[Files], str]) -> None:
    assert "none of the trusted keys" in refused({**files, SIGNATURE: signature.sign(files[MANIFEST], keys / "theirs")})


def test_our_signature_of_something_else(files: Files, keys: Path, refused: Callable[[Files], str]) -> None:
    for other in (b"", files[MANIFEST] + b"\n", files[MANIFEST].replace(b'"dirty": false', b'"dirty": true'), b"pay 100"):
        assert "changed since" in refused({**files, SIGNATURE: signature.sign(other, keys / "ours")})


def test_facts_that_were_changed(files: Files, refused: Callable[[Files], str]) -> None:
    """With the manifest that was signed they do not fit it; with one that they fit, that is not the one that was signed."""

    def rename(rows: Rows) -> None:
        rows[1]["path"] = "shop/evil.py"

    unsigned = {name: content for name, content in files.items() if name != SIGNATURE}
    changed = with_rows(unsigned, rename)
    assert changed[FIRST] != files[FIRST]
    assert "changed since" in refused({**changed, SIGNATURE: files[SIGNATURE]})
    assert "manifest" in refused({**files, FIRST: changed[FIRST]})
    for spoil in (lambda m: m.update(commit="0" * 40), lambda m: m.update(unread=[("a.rb", "ruby")]), lambda m: m.update(dirty=True)):
        assert "changed since" in refused({**signed(unsigned, spoil), SIGNATURE: files[SIGNATURE]})


def test_nothing_of_an_unsigned_artifact_is_read(files: Files, refused: Callable[[Files], str]) -> None:
    """Not even its manifest: what is wrong in there is not what is said."""
    assert "is not signed" in refused({MANIFEST: b"[" * 100_000, FIRST: b"PAR1 no"})


@needs_openssh
@pytest.mark.parametrize("namespace", ["git", "file", "lspidx-cach", "lspidx-cache2"])
def test_our_key_signed_it_for_something_else(
    namespace: str, files: Files, keys: Path, refused: Callable[[Files], str], tmp_path: Path
) -> None:
    place = tmp_path / "letter"
    place.write_bytes(files[MANIFEST])
    subprocess.run(["ssh-keygen", "-Y", "sign", "-n", namespace, "-f", str(keys / "ours"), str(place)], check=True, capture_output=True)
    assert "for something else than a cache" in refused({**files, SIGNATURE: place.with_name("letter.sig").read_bytes()})


def test_every_changed_bit_is_noticed(files: Files, keys: Path) -> None:
    """Of the signature's bytes, and of the first and last of the manifest."""
    [line] = signature.trusted([str(keys / "ours.pub")], keys)
    good = base64.b64decode(b"".join(files[SIGNATURE].split(b"\n")[1:-2]))
    assert signature.check(files[MANIFEST], _armoured(good), [line])
    for at in range(len(good)):
        for bit in (1, 128):
            with pytest.raises(CacheRefused):
                signature.check(files[MANIFEST], _armoured(good[:at] + bytes([good[at] ^ bit]) + good[at + 1 :]), [line])
    for at in (0, 1, -2, -1):
        changed = bytearray(files[MANIFEST])
        changed[at] ^= 1
        with pytest.raises(CacheRefused):
            signature.check(bytes(changed), files[SIGNATURE], [line])


def _armoured(blob: bytes) -> bytes:
    return b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(blob) + b"\n-----END SSH SIGNATURE-----\n"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda good: b"\0",
        lambda good: good[:-1],
        lambda good: good + b"\n",
        lambda good: good + good,
        lambda good: good.replace(b"\n", b"\r\n"),
        lambda good: b"# hello\n" + good,
        lambda good: good.replace(b"SSH", b"PGP"),
        lambda good: good.replace(b"U1NIU0lH", b"U1NIU0lH*"),
        lambda good: _armoured(b""),
        lambda good: _armoured(base64.b64decode(b"".join(good.split(b"\n")[1:-2])) + b"\0"),
        lambda good: _armoured(base64.b64decode(b"".join(good.split(b"\n")[1:-2]))[:-1]),
        lambda good: _armoured(b"SSHSIG" + b"\xff" * 200),
        lambda good: _armoured(bytes(2_900)),
        lambda good: "é".encode() * 100,
    ],
)
def test_signatures_that_are_none(spoil: Callable[[bytes], bytes], files: Files, refused: Callable[[Files], str]) -> None:
    spoilt = spoil(files[SIGNATURE])
    assert spoilt != files[SIGNATURE]
    reasons = refused({**files, SIGNATURE: spoilt})
    assert "not one of OpenSSH" in reasons or "signed by none" in reasons


def test_a_signature_that_is_no_small_file(files: Files, config: Config, shop_root: Path, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "large", {**files, SIGNATURE: bytes(5_000)})
    with pytest.raises(CacheRefused, match="larger than any"):
        check(folder, shop_root, config)
    with pytest.raises(CacheRefused, match="larger than any"):
        check(write_tar(tmp_path / "large.tar", {**files, SIGNATURE: bytes(5_000)}), shop_root, config)
    (folder / SIGNATURE).unlink()
    (tmp_path / "elsewhere").write_bytes(files[SIGNATURE])
    os.symlink(tmp_path / "elsewhere", folder / SIGNATURE)
    with pytest.raises(CacheRefused, match="symbolic link"):
        check(folder, shop_root, config)


# ---- keys and configuration


def test_keys_that_sign_nothing(shop_root: Path, keys: Path, tmp_path: Path) -> None:
    pem = serialization.Encoding.PEM
    private = Ed25519PrivateKey.generate()
    locked = private.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"x"))
    other = rsa.generate_private_key(65537, 2048).private_bytes(pem, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    write_tree(tmp_path, {"locked": locked, "rsa": other, "garbage": b"x", "public": (keys / "ours.pub").read_bytes()})
    for name in ("locked", "rsa", "garbage", "public", "missing"):
        with pytest.raises(UsageError, match="key"):
            export(shop_root, tmp_path / "artifact", key=tmp_path / name)
    assert not (tmp_path / "artifact").exists()


@pytest.mark.parametrize("entry", ["", "nowhere.pub", "ssh-ed25519 AAAA", "ssh-rsa AAAA", "empty", "garbage", "ecdsa"])
def test_trusted_keys_that_are_none_are_no_reason_to_ask_for_less(
    entry: str, files: Files, keys: Path, shop_root: Path, tmp_path: Path
) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec

    ecdsa = ec.generate_private_key(ec.SECP256R1()).public_key()
    line = ecdsa.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    root = write_tree(clone(shop_root, tmp_path / "there"), {"empty": "\n", "garbage": "\0\xff", "ecdsa": line})
    folder = write_folder(tmp_path / "artifact", files)
    with pytest.raises(UsageError, match="trusted key"):
        check(folder, root, Config(trusted_keys=(str(keys / "ours.pub"), entry)))


def test_a_project_does_not_talk_its_way_around_the_users_keys(keys: Path, tmp_path: Path) -> None:
    user = write_tree(tmp_path / "user", {"config.toml": "trusted_keys = ['ssh-ed25519 USER']\n"})
    for text in ("trusted_keys = []\n", "trusted_keys = ['ssh-ed25519 EVIL']\n"):
        root = write_tree(tmp_path / "root", {"lspidx.toml": text})
        found = load_config(root, environment={}, user_dir=user)
        assert (found.trusted_keys, found.sources["trusted_keys"]) == (("ssh-ed25519 USER",), str(user / "config.toml"))
        assert load_config(root, environment={"LSPIDX_TRUSTED_KEYS": "mine"}, user_dir=user).trusted_keys == ("mine",)
    assert load_config(root, environment={}, user_dir=tmp_path).trusted_keys == ("ssh-ed25519 EVIL",)  # the user has said nothing


def test_by_the_command_line(shop_root: Path, keys: Path, tmp_path: Path) -> None:
    """export --sign, push --sign; verify, import and pull with a key that is named, or set for the project."""
    git = {"PATH": os.environ["PATH"]}
    copy = shutil.copytree(shop_root, tmp_path / "shop")
    ours = (keys / "ours.pub").read_text().strip()

    def run(*arguments: str, code: int = 0) -> Any:
        done = lspidx("cache", *arguments, "--json", cwd=copy, env=git)
        assert done.returncode == code, done.stderr + done.stdout
        return json_of(done)

    assert run("export", str(tmp_path / "signed.tar"), "--sign", str(keys / "ours"))["signed"]
    run("export", str(tmp_path / "plain.tar"))
    run("push", str(tmp_path / "store"), "--sign", str(keys / "ours"))
    run("push", str(tmp_path / "plain"))
    for arguments, good, bad in (
        (("verify",), "signed.tar", "plain.tar"),
        (("import",), "signed.tar", "plain.tar"),
        (("pull", "--force"), "store", "plain"),
    ):
        verb, *options = arguments
        for key in (ours, str(keys / "ours.pub")):
            found = run(verb, str(tmp_path / good), *options, "--trusted-key", key)
            assert (found.get("imported") or found)["signed_by"].startswith("SHA256:")
        for source, key in ((bad, ours), (good, str(keys / "theirs.pub"))):
            assert run(verb, str(tmp_path / source), *options, "--trusted-key", key, code=4)["error"]["code"] == "cache_refused"
    write_tree(copy, {"lspidx.toml": f"trusted_keys = {json.dumps([ours])}\n"})
    run("import", str(tmp_path / "signed.tar"))
    assert "is not signed" in run("import", str(tmp_path / "plain.tar"), code=4)["error"]["message"]
    assert "is not signed" in run("pull", str(tmp_path / "plain"), "--force", code=4)["error"]["message"]
