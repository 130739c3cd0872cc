# SPDX-License-Identifier: Apache-2.0
"""Namespaces of their own for a run: whatever it starts, mounts or listens on ends with it, even by SIGKILL."""

import fcntl
import os
import pathlib
import socket
import struct
import subprocess
import sys

# Where a run has its files, in memory.
DIRECTORY = "/run/crash"
# Set inside.
INSIDE = "DNP_CRASH_INSIDE"
PROGRAMS = {"unshare": "util-linux", "mount": "mount", "strace": "strace", "journalctl": "systemd"}
# What cuts of power need as well.
DISK_PROGRAMS = {"losetup": "mount", "mkfs.ext4": "e2fsprogs", "nbdkit": "nbdkit", "nbdfuse": "libnbd-bin"}
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def require(cuts_power):
    """Ends with a sentence where this machine cannot run what is asked."""
    if os.geteuid() != 0:
        sys.exit("This starts a journald and mounts file systems: run it as root.")
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    for program, package in (PROGRAMS | DISK_PROGRAMS if cuts_power else PROGRAMS).items():
        if not any(os.access(f"{directory}/{program}", os.X_OK) for directory in path.split(":")):
            sys.exit(f"{program} is missing: apt-get install {package}")
    if cuts_power:
        require_devices()


def require_devices():
    for device in ("/dev/fuse", "/dev/loop-control"):
        try:
            os.close(os.open(device, os.O_RDWR))
        except OSError as error:
            sys.exit(f"{device}: {error.strerror}. Cuts of power need FUSE and loop devices; in a container, pass them in.")


def enter():
    """Runs this program again in namespaces of mounts, processes and network; returns inside."""
    if os.environ.pop(INSIDE, None):
        set_up()
        return
    os.environ[INSIDE] = "1"
    # The kernel ends all inside with the first process, and that one with unshare.
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child",
                          "--mount-proc", sys.executable, *sys.argv])


def set_up():
    """A `/run` and a `/var/log` for a journald, a directory for the run, and a loopback."""
    mount_memory("/run", "256m")
    mount_memory(DIRECTORY, "2g")
    mount_memory("/var/log", "2g")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack("16sH", fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))[:18])[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def mount_memory(directory, size):
    pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=755,size={size}", "tmpfs", directory], check=True)
