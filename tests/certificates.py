# SPDX-License-Identifier: Apache-2.0
"""Certificates and keys of certs-dev/make-certs for the tests in Python."""
import os
import shutil
import subprocess
import tempfile

MAKE_CERTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../certs-dev/make-certs")

_directories = {}  # authority: directory


def certificates(authority="first"):
    """A directory with the output of make-certs, made at the first call. Each name has its own certificate authority."""
    if authority not in _directories:
        directory = tempfile.mkdtemp(prefix="sandgate-certs-")
        subprocess.run([MAKE_CERTS, "--out", directory], check=True, stdout=subprocess.DEVNULL)
        _directories[authority] = directory
    return _directories[authority]


def certificate_file(name, authority="first"):
    return os.path.join(certificates(authority), name)


def forget_certificates():
    """Removes all these directories."""
    while _directories:
        shutil.rmtree(_directories.popitem()[1], ignore_errors=True)
