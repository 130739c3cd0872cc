# SPDX-License-Identifier: Apache-2.0
"""A journald of our own: in namespaces where /run, /var/log and the network are private."""

import fcntl
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys

from processes import Failure, Process, until

MARK = "DNP_CHECK_PRIVATE"
PRIVATE = ("/run", "/var/log")
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def enter(script):
    """Runs the script again where what it mounts, and the ports that it takes, are seen by nobody else."""
    if os.environ.get(MARK):
        for path in PRIVATE:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", path], check=True)
        loopback_up()
        return
    if os.geteuid() != 0:
        sys.exit(f"{script}: expected to be root, since it starts a journald and mounts private directories")
    os.environ[MARK] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--net", "--propagation", "private", sys.executable, *sys.argv])


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


class Journal:
    """journald, storing in the private /var/log/journal."""

    def __init__(self, directory):
        for path in ("/run/systemd/journal", "/run/log", "/var/log/journal"):
            pathlib.Path(path).mkdir(parents=True, exist_ok=True)
        program = shutil.which("systemd-journald", path="/lib/systemd:/usr/lib/systemd")
        if not program:
            raise Failure("systemd-journald is missing: apt-get install systemd")
        # Its own environment has no NOTIFY_SOCKET: nobody waits for it.
        self.process = Process([program], directory / "journald.log")
        until(
            "journald takes entries",
            lambda: self.process.said() is not None and pathlib.Path("/run/systemd/journal/socket").exists(),
        )

    def entries(self, *matches):
        """The entries as JSON objects; a field that an entry has several times is a list."""
        command = ["journalctl", "-q", "-o", "json", "--all", *matches]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]
