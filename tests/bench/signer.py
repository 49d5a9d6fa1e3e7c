# SPDX-License-Identifier: Apache-2.0
"""Signatures of many documents."""

import base64
import ctypes
import pathlib


class Datum(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_uint)]

    @classmethod
    def of(cls, data):
        return cls(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))


class Signer:
    """An Ed25519 key in GnuTLS, because 100,000 processes of openssl would take a quarter of an hour."""

    def __init__(self, path):
        self.library, self.key = ctypes.CDLL("libgnutls.so.30"), ctypes.c_void_p()
        text = pathlib.Path(path).read_bytes()
        self.call("gnutls_privkey_init", ctypes.byref(self.key))
        self.call("gnutls_privkey_import_x509_raw", self.key, ctypes.byref(Datum.of(text)), 1, None, 0)
        self.algorithm = self.library.gnutls_sign_get_id(b"EdDSA-Ed25519")
        self.free = ctypes.CFUNCTYPE(None, ctypes.c_void_p).in_dll(self.library, "gnutls_free")

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        assert code == 0, (name, code)

    def sign(self, document):
        out = Datum()
        self.call("gnutls_privkey_sign_data2", self.key, self.algorithm, 0, ctypes.byref(Datum.of(document.encode())),
                  ctypes.byref(out))
        signature = base64.b64encode(ctypes.string_at(out.data, out.size)).decode()
        self.free(out.data)
        return signature
