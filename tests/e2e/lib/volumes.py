# SPDX-License-Identifier: Apache-2.0
"""The volumes of a pod as directories, in the layout of the kubelet: files are links into a directory that is replaced as a
whole."""
import base64
import os
import pathlib
import shutil
import tempfile

DEFAULT_MODE = 0o644
TOKEN_SECONDS = 3607  # the lifetime that the admission plugin requests; a token is renewed after half of it


class Missing(Exception):
    """An object that the pod mounts does not exist (yet)."""


class Volumes:
    """All volumes of one pod, below its own directory."""

    def __init__(self, api, pod, folder, now):
        self.api, self.pod, self.now = api, pod, now
        self.folder = pathlib.Path(folder)
        self.namespace = pod["metadata"]["namespace"]
        self.group = pod["spec"].get("securityContext", {}).get("fsGroup", 0)
        self.token, self.token_time = None, 0.0

    def path(self, name):
        return self.folder / name

    def write(self):
        """Writes all volumes, or those that have changed. Raises Missing."""
        for volume in self.pod["spec"].get("volumes", []):
            name = volume["name"]
            if "emptyDir" in volume:
                self.path(name).mkdir(parents=True, exist_ok=True)
                os.chown(self.path(name), 0, self.group)
                self.path(name).chmod(0o2777)
                continue
            files, mode = self.content(volume)
            self.swap(self.path(name), files, mode)

    def content(self, volume):
        """({file name: bytes}, mode)"""
        for kind in ("configMap", "secret", "projected"):
            if kind in volume:
                source = volume[kind]
                break
        else:
            raise Missing(f"a volume of a kind that these tests do not know: {volume}")
        mode = source.get("defaultMode", DEFAULT_MODE)
        if kind != "projected":
            return self.object(kind, source, source.get("secretName") or source.get("name")), mode
        files = {}
        for part in source["sources"]:
            if "serviceAccountToken" in part:
                files[part["serviceAccountToken"]["path"]] = self.service_account_token()
            elif "downwardAPI" in part:
                for item in part["downwardAPI"]["items"]:
                    files[item["path"]] = field(self.pod, item["fieldRef"]["fieldPath"]).encode()
            else:
                for each in ("configMap", "secret"):
                    if each in part:
                        files.update(self.object(each, part[each], part[each]["name"]))
        return files, mode

    def object(self, kind, source, name):
        found = self.api.get_or_none(f"/api/v1/namespaces/{self.namespace}/{kind.lower()}s/{name}")
        if found is None:
            if source.get("optional"):
                return {}
            raise Missing(f"{kind} {self.namespace}/{name} is not there")
        data = {key: base64.b64decode(value) for key, value in (found.get("binaryData") or {}).items()}
        for key, value in (found.get("data") or {}).items():
            data[key] = base64.b64decode(value) if kind == "secret" else value.encode()
        if source.get("items"):
            return {item["path"]: data[item["key"]] for item in source["items"] if item["key"] in data}
        return data

    def service_account_token(self):
        if self.token is None or self.now() - self.token_time > TOKEN_SECONDS / 2:
            name = self.pod["spec"].get("serviceAccountName", "default")
            metadata = self.pod["metadata"]
            answer = self.api.post(f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{name}/token", {
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "spec": {"expirationSeconds": TOKEN_SECONDS, "boundObjectRef": {
                    "apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}}})
            self.token, self.token_time = answer["status"]["token"].encode(), self.now()
        return self.token

    def swap(self, folder, files, mode):
        """Replaces all files by one rename, so that no reader sees both old and new files."""
        current = folder / "..data"
        if current.exists() and {each.name: each.read_bytes() for each in current.iterdir()} == files:
            return
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        new = pathlib.Path(tempfile.mkdtemp(prefix="..", dir=folder))
        new.chmod(0o755)
        for name, content in files.items():
            path = new / name
            path.write_bytes(content)
            os.chown(path, 0, self.group)
            path.chmod(mode | (0o040 if self.group else 0))
        old = os.readlink(current) if current.is_symlink() else None
        (folder / "..data_tmp").symlink_to(new.name)
        os.replace(folder / "..data_tmp", current)
        for name in files:
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(f"..data/{name}")
        for path in list(folder.iterdir()):
            if not path.name.startswith("..") and path.name not in files:
                path.unlink()
        if old is not None:
            shutil.rmtree(folder / old, ignore_errors=True)


def field(pod, path):
    """The value of a fieldRef."""
    value = pod
    for name in path.split("."):
        value = value[name]
    return str(value)
