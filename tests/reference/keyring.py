# SPDX-License-Identifier: Apache-2.0
"""Keyring and detached signatures (gate-v1, section 4), by the openssl command line."""

import base64
import functools
import pathlib
import re
import subprocess
import tempfile

from reader import BLANKS

KEY_ID = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
MAX_KEY_ID = 63
MIN_RSA_BITS = 2048
SIGNATURE_PREFIX = "signature.sandbox.runx.dev/"
BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z")
BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\Z")
PSS = ["-pkeyopt", "rsa_padding_mode:pss", "-pkeyopt", "rsa_pss_saltlen:32"]


class Refused(Exception):
    """The keyring is invalid as a whole."""


def openssl(*arguments, data=b""):
    """Standard output of openssl, or None if it fails."""
    done = subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def decode_signature(text):
    """Base64 with padding, unused bits zero, blanks ignored; None for anything else."""
    text = text.translate({ord(char): None for char in BLANKS})
    if not text or not BASE64.match(text):
        return None
    data = base64.b64decode(text)
    return data if base64.b64encode(data).decode() == text else None


def _has_small_order(encoded):
    """Whether 8 times a point of Ed25519 is the neutral element. True for bytes that are no point."""
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p) % p
    y = (int.from_bytes(encoded, "little") & (2**255 - 1)) % p
    square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
    x = pow(square, (p + 3) // 8, p)
    if (x * x - square) % p:
        x = x * pow(2, (p - 1) // 4, p) % p
    if (x * x - square) % p:
        return True
    for _ in range(3):  # doubles the point
        k = d * x * x * y * y
        x, y = 2 * x * y * pow(1 + k, -1, p) % p, (y * y + x * x) * pow(1 - k, -1, p) % p
    return (x, y) == (0, 1)


class Key:
    """One PUBLIC KEY block."""

    def __init__(self, pem):
        self.numbers = openssl("pkey", "-pubin", "-outform", "DER", data=pem)
        about = openssl("pkey", "-pubin", "-noout", "-text_pub", data=pem)
        if self.numbers is None or about is None:
            raise Refused("a block that cannot be read")
        self.pem = pem
        self.tries = self._tries(about.decode())
        self.numbers = self._modulus() or self.numbers

    @staticmethod
    def _tries(about):
        """The arguments of openssl for each accepted form of signature of this key."""
        if about.startswith("ED25519"):
            point = bytes.fromhex("".join(re.findall(r"[0-9a-f]{2}(?=[:\s])", about.split("pub:", 1)[1])))
            if _has_small_order(point):
                raise Refused("a key that anybody can sign for")
            return [[]]
        if "prime256v1" in about:
            return [["-digest", "sha256"]]
        if "secp384r1" in about:
            return [["-digest", "sha384"]]
        bits = re.search(r"Public-Key: \((\d+) bit\)", about)
        if "Modulus" not in about or int(bits.group(1)) < MIN_RSA_BITS:
            raise Refused("another kind of key")
        found = re.search(r"Exponent: (\d+)|Exponent:\s*((?:[0-9a-f]{2}[:\s]*)+)", about)
        exponent = int(found.group(1) or re.sub(r"[:\s]", "", found.group(2)), 10 if found.group(1) else 16)
        if exponent < 3 or exponent % 2 == 0 or exponent >= 2**256:
            raise Refused("a key that anybody can sign for")
        pss = [["-digest", "sha256"] + PSS]
        return pss if "PSS parameter restrictions" in about else [["-digest", "sha256"]] + pss

    def _modulus(self):
        """The modulus of an RSA key, for any algorithm identifier."""
        return openssl("rsa", "-pubin", "-noout", "-modulus", data=self.pem)

    def verifies(self, data, signature):
        """Whether this key made the signature over the data."""
        return any(_verify(self.pem, data, signature, tuple(way)) for way in self.tries)


@functools.lru_cache(maxsize=None)
def _verify(pem, data, signature, way):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("key", "data", "signature")]
        for path, content in zip(paths, (pem, data, signature)):
            path.write_bytes(content)
        key, text, sig = map(str, paths)
        return openssl("pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", text,
                       "-sigfile", sig, *way) is not None


def _blocks(text):
    """The PUBLIC KEY blocks of a file. BEGIN and END must be on separate lines."""
    block, blocks = None, []
    for line in (line.strip(BLANKS) for line in text.splitlines()):
        begin = BEGIN.match(line)
        if block is None and begin:
            if begin.group(1) != "PUBLIC KEY":
                raise Refused("no public key")
            block = [line]
        elif block is not None:
            block.append(line)
            if line == "-----END PUBLIC KEY-----":
                blocks.append("\n".join(block + [""]).encode())
                block = None
            elif line.startswith("-----"):
                raise Refused("a block within a block")
        elif line.startswith("-----"):
            raise Refused("an end without a beginning")
    if block is not None or not blocks:
        raise Refused("no whole block")
    return blocks


@functools.lru_cache(maxsize=None)
def _key(pem):
    return Key(pem)


def load_keyring(folder):
    """{key id: [Key]} of a directory. Raises Refused."""
    keyring = {}
    for path in sorted(pathlib.Path(folder).glob("*.pem")):
        if not KEY_ID.match(path.stem) or len(path.stem) > MAX_KEY_ID:
            raise Refused("a name that is no annotation name")
        keyring[path.stem] = [_key(block) for block in _blocks(path.read_text("latin-1"))]
    if not keyring:
        raise Refused("a folder without a key")
    return keyring


def verifying_keys(annotations, data, keyring):
    """{key id: the Key that verifies} for the signatures in the annotations of a ConfigMap."""
    found = {}
    for name, text in annotations.items():
        key_id = name.removeprefix(SIGNATURE_PREFIX)
        if key_id == name or key_id not in keyring:
            continue
        signature = decode_signature(text)
        for key in keyring[key_id] if signature is not None else []:
            if key.verifies(data, signature):
                found[key_id] = key
                break
    return found
