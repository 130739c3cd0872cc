# SPDX-License-Identifier: Apache-2.0
"""A private journald, in namespaces with their own /run, /var/log and network."""

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
    """Runs the script again in its own mount and network namespaces."""
    if os.environ.get(MARK):
        for path in PRIVATE:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", path], check=True)
        loopback_up()
        return
    if os.geteuid() != 0:
        sys.exit(f"{script}: needs root to start journald and mount private directories")
    os.environ[MARK] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--net", "--propagation", "private", sys.executable, *sys.argv])


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, asked))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


class Journal:
    """journald with storage in the private /var/log/journal."""

    def __init__(self, directory):
        for path in ("/run/systemd/journal", "/run/log", "/var/log/journal"):
            pathlib.Path(path).mkdir(parents=True, exist_ok=True)
        program = shutil.which("systemd-journald", path="/lib/systemd:/usr/lib/systemd")
        if not program:
            raise Failure("systemd-journald is missing: apt-get install systemd")
        # No NOTIFY_SOCKET in its environment: nothing waits for readiness.
        self.process = Process([program], directory / "journald.log")
        until(
            "journald accepts entries",
            lambda: self.process.output() is not None and pathlib.Path("/run/systemd/journal/socket").exists(),
        )

    def entries(self, *matches):
        """The entries as JSON objects; a repeated field is a list."""
        command = ["journalctl", "-q", "-o", "json", "--all", *matches]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]
