# SPDX-License-Identifier: Apache-2.0
"""A file system whose power can be cut: ext4 on a loop device on a disk that nbdkit serves."""

import json
import pathlib
import socket
import subprocess

from waiting import Finding, until

PLUGIN = pathlib.Path(__file__).with_name("write_back.py")
MEGABYTES = 48


class Power:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.image, self.control = self.directory / "image", self.directory / "control.sock"
        self.disk, self.mounted = self.directory / "nbd" / "disk", self.directory / "mounted"
        self.loop, self.connection, self.processes, self.repairs = None, None, [], 0

    def __enter__(self):
        for directory in (self.disk.parent, self.mounted):
            directory.mkdir(parents=True)
        with open(self.image, "wb") as file:
            file.truncate(MEGABYTES << 20)
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", "-J", "size=4", self.image)
        server = self.directory / "nbd.sock"
        with open(self.directory / "nbd.log", "ab") as log:
            self.start(log, "nbdkit", "--foreground", "--unix", server, "--pidfile", self.directory / "nbd.pid", "python",
                       f"script={PLUGIN}", f"image={self.image}", f"control={self.control}")
            until(self.control.exists, "nbdkit answers")
            self.start(log, "nbdfuse", self.disk, "--unix", server)
        until(self.disk.exists, "nbdfuse has mounted its file")
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(str(self.control))
        self.answers = self.connection.makefile("r")
        return self

    def start(self, log, *command):
        self.processes.append(subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log,
                                               stderr=log))

    def __exit__(self, *_):
        try:
            self.tell("restore")
            self.detach()
        except (OSError, ValueError):
            # nbdkit has ended, as with this program by a signal.
            subprocess.run(["umount", "--lazy", str(self.mounted)], capture_output=True)
        subprocess.run(["umount", "--lazy", str(self.disk)], capture_output=True)
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=30)

    def tell(self, command, **arguments):
        """Gives the disk a command, and returns its state."""
        self.connection.sendall(json.dumps({"do": command} | arguments).encode() + b"\n")
        return json.loads(self.answers.readline())

    @property
    def is_cut(self):
        return self.tell("state")["isCut"]

    def attach(self):
        """Mounts what the disk holds, which the kernel has not seen before."""
        self.loop = run("losetup", "--find", "--show", "--direct-io=on", self.disk).strip()
        try:
            run("mount", "-t", "ext4", self.loop, self.mounted)
        except subprocess.CalledProcessError:
            # No fault of the service: the file system itself needs a repair, as a start of a machine does it.
            self.repairs += 1
            subprocess.run(["e2fsck", "-fy", self.loop], capture_output=True)
            run("mount", "-t", "ext4", self.loop, self.mounted)
        # The device goes with the mount.
        run("losetup", "--detach", self.loop)

    def detach(self):
        if self.loop is None:
            return
        until(lambda: subprocess.run(["umount", str(self.mounted)], capture_output=True).returncode == 0, "umount")
        until(lambda: run("losetup", "--list", "--noheadings", "--output", "NAME", "-j", self.disk) == "", "losetup")
        self.loop = None

    def synchronize(self):
        """True once everything that was written is durable."""
        return subprocess.run(["sync", "--file-system", str(self.mounted)], capture_output=True).returncode == 0


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
