# SPDX-License-Identifier: Apache-2.0
"""Ed25519 signatures by libcrypto, for tests that need thousands of them."""
import base64
import ctypes
import ctypes.util
import re

ED25519 = 1087  # EVP_PKEY_ED25519
SEED_BYTES, SIGNATURE_BYTES = 32, 64


class Ed25519:
    def __init__(self, pem):
        """Reads a PKCS#8 file. Its last 32 bytes are the seed."""
        body = re.search(r"-----BEGIN PRIVATE KEY-----(.*?)-----END", pem.read_text(), re.S).group(1)
        seed = base64.b64decode(body)[-SEED_BYTES:]
        self.crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
        self.crypto.EVP_PKEY_new_raw_private_key.restype = ctypes.c_void_p
        self.crypto.EVP_MD_CTX_new.restype = ctypes.c_void_p
        self.key = ctypes.c_void_p(self.crypto.EVP_PKEY_new_raw_private_key(ED25519, None, seed, ctypes.c_size_t(SEED_BYTES)))

    def sign(self, message):
        context = ctypes.c_void_p(self.crypto.EVP_MD_CTX_new())
        signature, length = ctypes.create_string_buffer(SIGNATURE_BYTES), ctypes.c_size_t(SIGNATURE_BYTES)
        good = (self.crypto.EVP_DigestSignInit(context, None, None, None, self.key) == 1
                and self.crypto.EVP_DigestSign(context, signature, ctypes.byref(length), message,
                                               ctypes.c_size_t(len(message))) == 1)
        self.crypto.EVP_MD_CTX_free(context)
        if not good:
            raise RuntimeError("libcrypto does not sign")
        return signature.raw
