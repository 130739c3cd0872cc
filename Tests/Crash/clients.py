# SPDX-License-Identifier: Apache-2.0
"""The clients: each sends what it is given until that is acknowledged, over every kill, and records both.

Events are pairs of an id and a line of JSON.
"""

import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import threading
import time

from service import UnixConnection
from waiting import Finding

PAUSE = 0.02


class Client(threading.Thread):
    """Works through its queue in the background; `failure` holds what is wrong with an answer."""

    def __init__(self, name, record, seed):
        super().__init__(daemon=True, name=name)
        self.record, self.random = record, random.Random(f"{seed}-{name}")
        self.queue, self.lock = [], threading.Lock()
        self.busy, self.ending, self.failure = False, threading.Event(), None
        self.may_send = threading.Event()
        self.may_send.set()
        # The ids in the order in which they were sent, those of one request together.
        self.sent = []
        self.counts = {"acknowledged": 0, "repeated": 0, "unanswered": 0, "duplicates": 0}

    def give(self, events):
        with self.lock:
            self.queue.extend(events)

    @property
    def is_idle(self):
        with self.lock:
            return not self.queue and not self.busy

    def end(self):
        self.ending.set()

    def sent_without(self, ids):
        """What was sent, but for requests with one of these ids."""
        return [request for request in list(self.sent) if ids.isdisjoint(request)]

    def goes_on(self):
        """False once it is to end; waits for the permission to send."""
        while not self.ending.is_set():
            if self.may_send.wait(0.1):
                return True
        return False

    def portion(self):
        """How many events it takes at once."""
        return self.random.randint(1, 20)

    def take(self, count):
        with self.lock:
            taken, self.queue = self.queue[:count], self.queue[count:]
            self.busy = bool(taken)
        return taken

    def run(self):
        try:
            while self.goes_on():
                events = self.take(self.portion())
                if events:
                    self.record.offer(one for one, _ in events)
                    self.deliver(events)
                else:
                    self.ending.wait(PAUSE)
        except Finding as finding:
            self.failure = f"{self.name}: {finding}"
        finally:
            self.close()

    def acknowledge(self, events):
        self.counts["acknowledged"] += len(events)
        self.record.acknowledge(one for one, _ in events)

    def close(self):
        pass


class PostingClient(Client):
    """Posts batches, with keys or without; a part of what is acknowledged is sent again."""

    def __init__(self, name, record, seed, path, has_keys, repeats=0.1):
        super().__init__(name, record, seed)
        self.path, self.has_keys, self.repeats = path, has_keys, repeats
        self.connection, self.number = None, 0

    def deliver(self, events):
        self.number += 1
        self.sent.append([one for one, _ in events])
        key = f"{self.name}-{self.number}" if self.has_keys else None
        lines = [line for _, line in events]
        while self.goes_on():
            receipt = self.post(lines, key)
            if receipt is None:
                self.ending.wait(PAUSE)
                continue
            self.check(receipt, events)
            self.counts["duplicates"] += receipt["duplicates"]
            self.acknowledge(events)
            if self.random.random() < self.repeats:
                self.repeat(lines, key)
            return

    def repeat(self, lines, key):
        receipt = self.post(lines, key)
        if receipt is not None:
            self.counts["repeated"] += len(lines)
            if receipt["accepted"]:
                raise Finding(f"{receipt['accepted']} of {len(lines)} repeated events were accepted again")

    def check(self, receipt, events):
        if receipt["rejected"] or receipt["accepted"] + receipt["duplicates"] != len(events):
            raise Finding(f"{len(events)} events were answered with {receipt}; the first is {events[0][1]}")

    def post(self, lines, key):
        """The receipt, or nothing where there was no answer or a refusal."""
        is_array = self.has_keys and self.number % 2 == 0
        body = "[" + ",".join(lines) + "]" if is_array else "".join(line + "\n" for line in lines)
        headers = {"Content-Type": "application/json" if is_array else "application/x-ndjson"}
        if key:
            headers["Idempotency-Key"] = key
        try:
            if self.connection is None:
                self.connection = UnixConnection(self.path)
            self.connection.request("POST", "/v1/events", body, headers)
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.counts["unanswered"] += 1
            self.close()
            return None
        # Every other request has a connection of its own.
        if answer.will_close or self.random.random() < 0.5:
            self.close()
        if answer.status == 503:
            return None
        if answer.status != 200:
            raise Finding(f"a batch was answered with {answer.status}: {text[:300]}")
        return json.loads(text)

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class LineClient(Client):
    """Writes lines to the line socket, reads `ok N`, and after a break sends again from the line behind N."""

    def __init__(self, name, record, seed, path):
        super().__init__(name, record, seed)
        self.path, self.socket, self.answers = str(path), None, None
        self.lines = 0

    def deliver(self, events):
        self.sent += [[one] for one, _ in events]
        rest = list(events)
        while rest and self.goes_on():
            try:
                self.send(rest)
            except OSError:
                self.counts["unanswered"] += 1
                self.close()
                self.ending.wait(PAUSE)

    def send(self, rest):
        """Sends all of the rest, and takes off it what is acknowledged."""
        if self.socket is None:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(10)
            self.socket.connect(self.path)
            self.answers, self.lines = self.socket.makefile("r", encoding="utf-8", newline="\n"), 0
        first = self.lines
        self.socket.sendall("".join(line + "\n" for _, line in rest).encode())
        self.lines += len(rest)
        while rest:
            answer = self.answers.readline()
            if not answer.endswith("\n"):
                raise ConnectionResetError
            word, _, more = answer.strip().partition(" ")
            if word == "rejected":
                raise Finding(f"a line was {answer.strip()}; the rest begins with {rest[0][1]}")
            if word == "ok":
                done = int(more) - first
                self.acknowledge(rest[:done])
                del rest[:done]
                first = int(more)

    def close(self):
        for one in (self.answers, self.socket):
            if one:
                one.close()
        self.answers = self.socket = None


class SendingClient(Client):
    """Ships files with `dnp-telemetry send`, which is killed at times and then run again with the same file."""

    def __init__(self, name, record, seed, service, directory):
        super().__init__(name, record, seed)
        self.service, self.directory, self.number = service, directory, 0

    def portion(self):
        return 200

    def deliver(self, events):
        self.number += 1
        path = self.directory / f"send-{self.number}.ndjson"
        path.write_text("".join(line + "\n" for _, line in events))
        while self.goes_on():
            status = self.send(path)
            if status == 0:
                self.acknowledge(events)
                return
            if status not in (-9, 3):
                raise Finding(f"send {path.name} ended with {status}")
            self.counts["repeated"] += 1

    def send(self, path):
        command = [self.service.executable, "send", str(path), "--to", f"unix:{self.service.http}", "--quiet",
                   "--retry-for", "10s", "--timeout", "10s"]
        with open(self.directory / "send.log", "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        limit = self.random.uniform(0.05, 0.6) if self.random.random() < 0.3 else 60
        end = time.monotonic() + limit
        while process.poll() is None:
            if time.monotonic() > end or self.ending.is_set():
                process.kill()
            time.sleep(PAUSE)
        return process.returncode


class Writer(Client):
    """Appends to the file that is followed, in pieces that end anywhere, and rotates it."""

    GENERATIONS = 30
    ROTATES = 0.15

    def __init__(self, name, record, seed, path, is_whole=False):
        super().__init__(name, record, seed)
        self.path, self.is_whole = path, is_whole
        self.file = open(path, "ab", buffering=0)
        # A file that is followed for the first time is read from its own beginning, without its earlier rotations.
        self.is_followed = False
        self.counts |= {"written": 0, "rotations": 0}

    def portion(self):
        return 10_000 if self.is_whole else super().portion()

    def deliver(self, events):
        if self.is_followed and self.random.random() < self.ROTATES:
            self.rotate()
        rest = "".join(line + "\n" for _, line in events).encode()
        while rest:
            piece = self.random.randint(1, 4_000)
            self.file.write(rest[:piece])
            rest = rest[piece:]
        self.counts["written"] += len(events)
        self.ending.wait(self.random.uniform(0, 0.02))

    def rotate(self):
        """Renames the file and opens another one, or copies and empties it, as logrotate does."""
        self.counts["rotations"] += 1
        for number in range(self.GENERATIONS, 0, -1):
            older = self.path.with_name(f"{self.path.name}.{number}")
            if older.exists():
                older.rename(self.path.with_name(f"{self.path.name}.{number + 1}"))
        first = self.path.with_name(f"{self.path.name}.1")
        if self.random.random() < 0.5:
            self.path.rename(first)
            self.file.close()
            self.file = open(self.path, "ab", buffering=0)
        else:
            shutil.copyfile(self.path, first)
            os.truncate(self.path, 0)

    def close(self):
        self.file.close()
