#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program in the file tree of an image as a pod of the chart does, without a container engine.

Usage: container.py ROOT [--mount SOURCE:TARGET[:rw]]... [--env NAME=VALUE]... -- PROGRAM [ARGUMENT]...

The program sees ROOT and the mounts, read-only unless :rw is given, /proc, and a few devices. Its user is 65532. It has no
capability and cannot gain one. Its environment has only the KUBERNETES_* variables and those of the sanitizers. The process
keeps its id, so that the caller can send signals to it, and its network. Needs root, or the permission to make a user
namespace. Not supported: seccomp, cgroups, namespaces of processes and of the network.
"""
import argparse
import ctypes
import os
import sys

USER = 65532
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 8, 24, 38
LAST_CAPABILITY = 63  # more than any kernel has; the kernel answers EINVAL after its last one
DEVICES = ("null", "zero", "random", "urandom")

LIBC = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(LIBC, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}", str(arguments))


def mount(source, target, kind=None, flags=0, data=None):
    def encoded(text):
        return None if text is None else os.fsencode(text)
    call("mount", encoded(source), encoded(target), encoded(kind), ctypes.c_ulong(flags), encoded(data))


def bind(source, target, read_only=True):
    """Bind-mounts a directory or a file. Makes the target if it is missing."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb"):
            pass
    mount(source, target, flags=MS_BIND | MS_REC)
    if read_only:
        mount(None, target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def own_namespaces():
    """Makes later mounts invisible to other processes."""
    if os.geteuid() == 0:
        call("unshare", CLONE_NEWNS)
    else:
        user, group = os.geteuid(), os.getegid()
        call("unshare", CLONE_NEWUSER | CLONE_NEWNS)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{USER} {user} 1"), ("gid_map", f"{USER} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as stream:
                stream.write(text)
    mount(None, "/", flags=MS_REC | MS_PRIVATE)


def build(world, mounts):
    """Builds the file tree of the program in a memory file system over ROOT. It is removed with the namespace."""
    tree = os.open(world, os.O_PATH | os.O_DIRECTORY)  # the covered directory stays reachable through this
    names = os.listdir(world)
    mount("tmpfs", world, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m")
    for name in names:
        bind(f"/proc/self/fd/{tree}/{name}", os.path.join(world, name))
    os.close(tree)
    bind("/proc", f"{world}/proc", read_only=False)
    for name in DEVICES:
        bind(f"/dev/{name}", f"{world}/dev/{name}", read_only=False)
    for source, target, *how in mounts:
        bind(source, world + target, read_only=how != ["rw"])
    mount(None, world, flags=MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def give_up_everything():
    for capability in range(LAST_CAPABILITY + 1):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.umask(0o022)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", maxsplit=2)[1])
    parser.add_argument("root")
    parser.add_argument("--mount", action="append", default=[])
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    kept = {name: value for name, value in os.environ.items() if name.startswith(("KUBERNETES_", "ASAN_", "UBSAN_"))}
    kept.update(each.split("=", 1) for each in given.env)
    own_namespaces()
    world = os.path.realpath(given.root)
    build(world, [each.split(":") for each in given.mount])
    os.chroot(world)
    os.chdir("/")
    give_up_everything()
    os.execve(given.command[0], given.command, kept)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"container.py: {error}")
