# SPDX-License-Identifier: Apache-2.0
"""`dnp-telemetry serve` on a ledger of its own, and the command beside it."""

import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The system's clock for a process, so that cycles close without waiting; as ShiftedClock of the Swift tests.
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec -= SECONDS;
    return result;
}
"""


def executable():
    """The executable under test: DNP_TELEMETRY_BINARY, else that of the tests."""
    path = pathlib.Path(os.environ.get("DNP_TELEMETRY_BINARY") or ROOT / ".build-tests/release/dnp-telemetry")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"{path} is not there: run `make build`, or name one in DNP_TELEMETRY_BINARY.")
    return str(path)


def command(*arguments, stdin=b""):
    """What the command prints for an input."""
    return subprocess.run([executable(), *arguments], input=stdin, capture_output=True, timeout=60).stdout


def eventually(condition, what, seconds=30):
    """Waits for a fact, and returns it."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Service:
    """Outlives its process: a restart has the same ledger and port."""

    def __init__(self, directory, *options):
        self.directory = pathlib.Path(directory)
        self.options = options
        self.port = 0
        self.process = None
        self.starts = itertools.count(1)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self, seconds_ago=0):
        """Starts the process and waits until it is ready; its clock may be behind the machine's."""
        log = self.directory / f"service-{next(self.starts)}.stderr"
        environment = os.environ | {"NO_COLOR": "1"}
        if seconds_ago:
            environment["LD_PRELOAD"] = self.clock(seconds_ago)
        arguments = ["serve", "--listen", f"127.0.0.1:{self.port}", "--state-dir", str(self.directory / "state"),
                     "--journal", "off", "--retention", "7d", *self.options]
        (self.directory / "state").mkdir(exist_ok=True)
        with log.open("wb") as output:
            self.process = subprocess.Popen([executable(), *arguments], stdout=output, stderr=output, env=environment)

        def told_port():
            assert self.process.poll() is None, f"the service did not come up: {log.read_text()}"
            return re.search(r"post +http://127\.0\.0\.1:(\d+)/v1/events", log.read_text())

        self.port = int(eventually(told_port, "the service tells its port")[1])
        eventually(lambda: self.status("/-/ready") == 200, "/-/ready answers 200")
        return self

    def clock(self, seconds):
        source, library = self.directory / "clock.c", self.directory / "clock.so"
        source.write_text(CLOCK.replace("SECONDS", str(seconds)))
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        return str(library)

    def end(self, number=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
        if self.process:
            self.process.wait(timeout=30)

    def status(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return json.load(answer)

    def post(self, body, path="/v1/events", kind="application/x-ndjson"):
        request = urllib.request.Request(self.url + path, data=body, headers={"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def send(self, events):
        """Posts events, all of which must be accepted."""
        lines = [json.dumps(event).encode() for event in events]
        answer = json.loads(self.post(b"\n".join(lines)))
        assert answer["accepted"] == len(lines), answer
        return len(lines)


def with_closed_cycles(service, events, cycles):
    """Lets a service take events three hours ago, so that their cycles are closed when it is back in the present."""
    service.start(seconds_ago=3 * 3600)
    service.send(events)
    service.end(signal.SIGTERM)
    service.start()
    eventually(lambda: service.get("/api/v1/overview")["status"]["indexedCycles"] == cycles, f"{cycles} cycles closed")
    return service
