# SPDX-License-Identifier: Apache-2.0
"""A disk with a volatile cache, as an nbdkit plugin: what is written waits until a flush, and a cut forgets what waits.

At a cut each waiting write is kept or forgotten as `keep` says, for a write may reach the disk at any time before its
flush: `none`, `all`, `some` (whole writes at random), or `torn` (sectors at random). From then on every request fails
until the disk is restored. One line of JSON over the control socket is a command, and is answered with the state.
"""

import errno
import json
import pathlib
import random
import socket
import threading

import nbdkit

API_VERSION = 2
SECTOR = 512
# How often a write also moves an older one out of the cache, as disks do at any time.
DESTAGE = 0.05


class Disk:
    def __init__(self):
        self.lock = threading.Lock()
        self.current = self.durable = bytearray()
        # The number of the write that a waiting sector belongs to.
        self.waiting = {}
        self.writes = self.flushes = 0
        self.at, self.keep, self.random, self.is_cut = None, "none", random.Random(0), False
        self.lies = False

    def load(self, path):
        self.current = bytearray(pathlib.Path(path).read_bytes())
        self.durable = bytearray(self.current)
        self.waiting, self.is_cut, self.at = {}, False, None

    def arm(self, seed, keep, at=None, lies=False):
        """Cuts at the flush of that number from now on, before anything of it is durable; lies by ignoring flushes."""
        self.random, self.keep, self.at, self.lies = random.Random(seed), keep, at, lies
        self.writes = self.flushes = 0

    def restore(self):
        self.is_cut, self.at, self.lies = False, None, False

    def cut(self):
        kept, numbers = {}, sorted(set(self.waiting.values()))
        whole = {number for number in numbers if self.random.random() < 0.5}
        for sector, number in self.waiting.items():
            if self.keep == "all" or self.keep == "some" and number in whole:
                kept[sector] = number
            elif self.keep == "torn" and self.random.random() < 0.5:
                kept[sector] = number
        self.settle(kept)
        self.current = bytearray(self.durable)
        self.waiting, self.is_cut, self.at = {}, True, None

    def settle(self, sectors):
        for sector in sectors:
            place = slice(sector * SECTOR, (sector + 1) * SECTOR)
            self.durable[place] = self.current[place]

    def require_power(self):
        if self.is_cut:
            nbdkit.set_error(errno.EIO)
            raise OSError(errno.EIO, "the power is cut")

    def read(self, count, offset):
        self.require_power()
        return self.current[offset:offset + count]

    def write(self, data, offset, is_durable):
        self.require_power()
        self.writes += 1
        sectors = range(offset // SECTOR, (offset + len(data) + SECTOR - 1) // SECTOR)
        self.current[offset:offset + len(data)] = data
        if is_durable:
            self.settle(sectors)
            for sector in sectors:
                self.waiting.pop(sector, None)
        else:
            self.waiting.update(dict.fromkeys(sectors, self.writes))
            if self.random.random() < DESTAGE:
                oldest = min(self.waiting.values())
                gone = [sector for sector, number in self.waiting.items() if number == oldest]
                self.settle(gone)
                for sector in gone:
                    del self.waiting[sector]

    def flush(self):
        self.require_power()
        self.flushes += 1
        if self.flushes == self.at:
            self.cut()
            self.require_power()
        if not self.lies:
            self.settle(self.waiting)
            self.waiting = {}

    def obey(self, command):
        name = command.pop("do")
        if name in ("load", "arm", "restore", "cut"):
            getattr(self, name)(**command)
        return {"isCut": self.is_cut, "flushes": self.flushes, "writes": self.writes, "waiting": len(self.waiting)}


disk = Disk()
settings = {}


def config(key, value):
    settings[key] = value


def thread_model():
    return nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS


def after_fork():
    disk.load(settings["image"])
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(settings["control"])
    listener.listen(8)
    threading.Thread(target=serve, args=(listener,), daemon=True).start()


def serve(listener):
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rw") as lines:
            for line in lines:
                with disk.lock:
                    answer = disk.obey(json.loads(line))
                lines.write(json.dumps(answer) + "\n")
                lines.flush()


def open(readonly):
    return disk


def get_size(handle):
    return len(handle.current)


def can_flush(handle):
    return True


def can_fua(handle):
    return nbdkit.FUA_NATIVE


def can_multi_conn(handle):
    return True


def pread(handle, buffer, offset, flags):
    with handle.lock:
        buffer[:] = handle.read(len(buffer), offset)


def pwrite(handle, buffer, offset, flags):
    with handle.lock:
        handle.write(buffer, offset, bool(flags & nbdkit.FLAG_FUA))


def flush(handle, flags):
    with handle.lock:
        handle.flush()
