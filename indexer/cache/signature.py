"""Who made an artifact: a detached signature of its manifest, which holds the digest of every chunk.

    manifest.json.sig    the signature as `ssh-keygen -Y sign -n lspidx-cache` writes it (OpenSSH's PROTOCOL.sshsig), Ed25519 keys only

So the keys are those that people and CI have already, and no tool of ours is needed to check one. A signature is never taken apart: what
stands before its last 64 bytes is what we would write for a key that is trusted, or the signature is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from pathlib import Path

from indexer.errors import CacheRefused, UsageError
from indexer.extras import needed_for

NAMESPACE = b"lspidx-cache"
"""A signature that the same key made for something else (a commit, a letter) is none of an artifact."""

MAX_BYTES = 4_096
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_KIND = b"ssh-ed25519"
_HASHES = ("sha512", "sha256")  # the two that OpenSSH knows; it writes the first
_SIGNATURE_BYTES = 64


def sign(manifest: bytes, key: Path) -> bytes:
    """The signature of a manifest's bytes; the same for the same key and bytes.

    Args:
        key: a private Ed25519 key without passphrase, as ssh-keygen or openssl writes it.
    Raises:
        UsageError: there is no such key in that file.
    """
    with needed_for("signing an artifact", "remote"):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        raw = key.read_bytes()
        load = serialization.load_ssh_private_key if b"OPENSSH" in raw[:100] else serialization.load_pem_private_key
        private = load(raw, None)
    except OSError as error:
        raise UsageError(f"the key '{key}' cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(
            f"'{key}' is no private key that can be used ({error}); it must be an Ed25519 key without passphrase, "
            f"as this makes one: ssh-keygen -t ed25519 -N '' -f KEY"
        ) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise UsageError(f"'{key}' is no Ed25519 key; to make one: ssh-keygen -t ed25519 -N '' -f KEY")
    public = private.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    made = private.sign(_to_sign(manifest, _HASHES[0]))
    text = base64.b64encode(_before(base64.b64decode(public.split()[1]), _HASHES[0]) + made).decode()
    return "\n".join([_BEGIN, *(text[at : at + 70] for at in range(0, len(text), 70)), _END, ""]).encode()


def trusted(entries: Sequence[str], root: Path) -> list[str]:
    """Public keys as lines (`ssh-ed25519 AAAA…`), of entries that are such a line or name a file of them (relative to `root`, or `~`).

    Raises:
        UsageError: an entry is neither. None of them is skipped: with fewer keys than somebody wrote down, less would be asked for.
    """
    if not entries:
        return []
    with needed_for("checking an artifact's signature", "remote"):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    keys: list[str] = []
    for entry in entries:
        lines = [entry]
        if not entry.startswith(("ssh-", "ecdsa-", "sk-")):
            try:
                lines = (root / Path(entry).expanduser()).read_text(encoding="utf-8").splitlines()
            except (OSError, ValueError) as error:
                raise UsageError(f"the trusted key '{entry}' is neither a public key nor a file that can be read") from error
        lines = [line for line in lines if line.strip() and not line.startswith("#")]
        for line in lines:
            try:
                public = serialization.load_ssh_public_key(line.encode())
            except (ValueError, UnsupportedAlgorithm) as error:
                raise UsageError(f"the trusted key '{entry[:60]}' has a line that is no public key of OpenSSH") from error
            if not isinstance(public, Ed25519PublicKey):
                raise UsageError(f"the trusted key '{entry[:60]}' is no Ed25519 key, the only kind that signs an artifact")
            keys.append(public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode())
        if not lines:
            raise UsageError(f"the trusted key '{entry}' names a file without any key")
    return keys


def check(manifest: bytes, signature: bytes | None, keys: Sequence[str]) -> str:
    """Which of `keys` (lines, as of `trusted`) signed these bytes: its fingerprint, as `ssh-keygen -l` prints it.

    Raises:
        CacheRefused: none did.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    wanted = ", ".join(map(fingerprint, keys))
    if signature is None:
        raise CacheRefused(f"the artifact is not signed, and only one that is signed by {wanted} may be taken")
    lines = signature[:MAX_BYTES].decode("ascii", "replace").split("\n")
    try:
        if lines[0] != _BEGIN or lines[-2:] != [_END, ""]:
            raise ValueError
        blob = base64.b64decode("".join(lines[1:-2]), validate=True)
    except (ValueError, binascii.Error) as error:
        raise CacheRefused("the signature of the artifact is not one of OpenSSH") from error
    for line in keys:
        public = base64.b64decode(line.split()[1])
        for name in _HASHES:
            before = _before(public, name)
            if blob.startswith(before) and len(blob) == len(before) + _SIGNATURE_BYTES:
                try:
                    Ed25519PublicKey.from_public_bytes(public[-32:]).verify(blob[len(before) :], _to_sign(manifest, name))
                except InvalidSignature as error:
                    raise CacheRefused(
                        f"the signature does not fit the manifest: what {fingerprint(line)} signed was changed since"
                    ) from error
                return fingerprint(line)
    raise CacheRefused(f"the artifact is signed by none of the trusted keys, or for something else than a cache; trusted: {wanted}")


def fingerprint(line: str) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(base64.b64decode(line.split()[1])).digest()).decode().rstrip("=")


def _string(value: bytes) -> bytes:
    return len(value).to_bytes(4, "big") + value


def _before(public: bytes, hash_name: str) -> bytes:
    """All of a signature but its last 64 bytes."""
    who = b"SSHSIG" + (1).to_bytes(4, "big") + _string(public) + _string(NAMESPACE) + _string(b"") + _string(hash_name.encode())
    inner = _string(_KIND) + _SIGNATURE_BYTES.to_bytes(4, "big")
    return who + (len(inner) + _SIGNATURE_BYTES).to_bytes(4, "big") + inner


def _to_sign(manifest: bytes, hash_name: str) -> bytes:
    digest = hashlib.new(hash_name, manifest).digest()
    return b"SSHSIG" + _string(NAMESPACE) + _string(b"") + _string(hash_name.encode()) + _string(digest)
