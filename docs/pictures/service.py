# SPDX-License-Identifier: Apache-2.0
"""The real service under a clock that stands still until it is moved, with a state directory of its own."""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

PORT = 10917
ADDRESS = f"http://127.0.0.1:{PORT}"
START_SECONDS = 30
# Pseudonyms follow from the key, so that it is the same at each run. It protects made-up ids alone.
KEY = bytes(range(32))


class Service:
    def __init__(self, program, folder):
        self.program, self.folder, self.process = program, pathlib.Path(folder), None
        self.clock = self.folder / "clock"
        self.library = self.folder / "clock.so"
        source = pathlib.Path(__file__).with_name("clock.c")
        subprocess.run(["clang", "-O2", "-shared", "-fPIC", "-o", self.library, source], check=True)
        self.state = self.folder / "state"
        self.state.mkdir()
        key = self.state / "installation.key"
        key.touch(mode=0o600)
        key.write_bytes(KEY)

    def move(self, moment):
        # In place, since the service has the file mapped.
        with open(self.clock, "r+b" if self.clock.exists() else "wb") as file:
            file.write(int(moment.timestamp()).to_bytes(8, sys.byteorder))

    def start(self):
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "TZ": "UTC",
            "LD_PRELOAD": str(self.library), "PICTURES_CLOCK": str(self.clock),
        }
        options = ["--listen", f"127.0.0.1:{PORT}", "--state-dir", str(self.state), "--journal", "stdout", "--retention", "7d"]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", *options], env=environment, stdout=subprocess.DEVNULL, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return self.get("/api/v1/overview")
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise SystemExit(f"The service does not start:\n{(self.folder / 'log').read_text()[-2000:]}")
                time.sleep(0.05)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=START_SECONDS)
            self.process = None

    def settle(self):
        """Starts again and waits until every cycle that is due has closed.

        A clock that leaps closes nothing; where a start finds it ahead by less than a day, it is believed.
        """
        self.stop()
        self.start()
        before, same = None, 0
        while same < 8:
            time.sleep(0.2)
            closed = self.get("/api/v1/overview")["status"]["closedCycles"]
            same = same + 1 if closed == before else 0
            before = closed

    def wait_for_journal(self):
        """Waits until everything is in the journal; its progress is kept after some seconds of the clock."""
        deadline = time.monotonic() + START_SECONDS
        while self.get("/api/v1/overview")["status"]["journal"]["pending"] > 0:
            if time.monotonic() > deadline:
                raise SystemExit("The journal does not catch up")
            time.sleep(0.2)

    def get(self, path):
        with urllib.request.urlopen(ADDRESS + path, timeout=10) as answer:
            return json.load(answer)

    def post(self, events):
        """Posts events as NDJSON."""
        body = "".join(json.dumps(event) + "\n" for event in events).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        with urllib.request.urlopen(urllib.request.Request(f"{ADDRESS}/v1/events", body, headers), timeout=30) as answer:
            return json.load(answer)
