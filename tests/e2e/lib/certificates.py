# SPDX-License-Identifier: Apache-2.0
"""A certificate authority whose certificates expire at the second that a test chooses."""
import base64
import datetime
import pathlib
import ssl
import subprocess

CONFIG = """[ca]
default_ca = own
[own]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = names
unique_subject = no
[names]
commonName = optional
[leaf]
basicConstraints = critical,CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:{name}
"""


def stamp(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y%m%d%H%M%SZ")


def openssl(*words):
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(map(str, words))}: {done.stderr}")


class Authority:
    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "index.txt").touch()
        (self.folder / "config").write_text(CONFIG.format(folder=self.folder, name=name))
        self.request("ca")
        openssl("req", "-x509", "-key", self.folder / "ca.key", "-subj", "/CN=e2e", "-days", "2", "-out", self.folder / "ca.crt",
                "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
        self.bundle = (self.folder / "ca.crt").read_text()

    def request(self, name):
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=gate",
                "-keyout", self.folder / f"{name}.key", "-out", self.folder / f"{name}.csr")

    def secret(self, seconds):
        """(data of a Secret, certificate as DER): a certificate that expires in this number of seconds."""
        self.request("leaf")
        openssl("ca", "-batch", "-notext", "-config", self.folder / "config", "-cert", self.folder / "ca.crt", "-keyfile",
                self.folder / "ca.key", "-in", self.folder / "leaf.csr", "-out", self.folder / "leaf.crt", "-extensions", "leaf",
                "-startdate", stamp(-3600), "-enddate", stamp(seconds))
        certificate = (self.folder / "leaf.crt").read_text()
        data = {"tls.crt": certificate, "tls.key": (self.folder / "leaf.key").read_text()}
        return ({key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
                ssl.PEM_cert_to_DER_cert(certificate))


def served(address, port=8443):
    """The certificate that a gate serves now, as DER."""
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((address, port), timeout=5))
