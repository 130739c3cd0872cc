# SPDX-License-Identifier: Apache-2.0
"""Real services and a real Prometheus on free ports."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# A check that is asked to end runs its `finally` blocks, which end its processes and remove its directories.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

LATER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += %d;
    return result;
}
"""


class Failure(Exception):
    """A fault that a check found."""


def until(fact, probe, seconds=60):
    """Polls until the probe returns a true value, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Failure(f"timed out after {seconds} s waiting until {fact}")
        time.sleep(0.1)


def fetch(url, body=None, kind=None, headers=None):
    request = urllib.request.Request(url, data=body, headers={**({"Content-Type": kind} if kind else {}), **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        raise Failure(f"{url}: {error.code} {error.read().decode(errors='replace')}") from error


def answers(url):
    try:
        urllib.request.urlopen(url, timeout=5).close()
        return True
    except OSError:
        return False


def free_port():
    """A free port below the ephemeral range, so that no outgoing connection takes it before its use."""
    while True:
        port = random.randrange(11_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def later_clock(directory, seconds):
    """A preload library that shifts a process's clock, so that cycles reach their timeout without waiting."""
    compiler = next((found for found in map(shutil.which, ("clang", "gcc", "cc")) if found), None)
    if not compiler:
        raise Failure("a C compiler is missing: clang comes with Swift, or install gcc")
    source, library = directory / f"later-{seconds}.c", directory / f"later-{seconds}.so"
    source.write_text(LATER % seconds)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library)}


class Process:
    """A child process with its standard error in a file."""

    def __init__(self, command, log, environment=None):
        self.log = pathlib.Path(log)
        with open(log, "wb") as errors:
            self.child = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "NO_COLOR": "1", **(environment or {})},
            )

    def output(self):
        if self.child.poll() is not None:
            raise Failure(f"{self.child.args[0]} exited:\n{self.log.read_text(errors='replace')}")
        return self.log.read_text(errors="replace")

    def end(self, number=signal.SIGTERM):
        if self.child.poll() is None:
            self.child.send_signal(number)
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class Service:
    """`dnp-telemetry serve`; a restart keeps the port and the state."""

    def __init__(self, binary, directory, *options):
        self.command = [binary, "serve", "--state-dir", directory / "state", *options]
        self.directory, self.port, self.process = directory, 0, None
        directory.mkdir()

    def start(self, environment=None):
        command = [*self.command, "--listen", f"127.0.0.1:{self.port}"]
        self.process = Process(command, self.directory / "service.log", environment)
        screen = re.compile(r"http://127\.0\.0\.1:(\d+)/v1/events")
        self.port = int(until("the service prints its port", lambda: screen.search(self.process.output())).group(1))
        until("the service is ready", lambda: answers(f"{self.base}/-/ready"))

    @property
    def instance(self):
        return f"127.0.0.1:{self.port}"

    @property
    def base(self):
        return f"http://{self.instance}"

    def post(self, body, kind="application/json", headers=None):
        return json.loads(fetch(f"{self.base}/v1/events", body, kind, headers))

    def families(self):
        return set(re.findall(r"^# TYPE (\S+)", fetch(f"{self.base}/metrics"), re.MULTILINE))


class Prometheus:
    """Prometheus with a configuration."""

    def __init__(self, configuration, directory):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.process = Process(
            [
                shutil.which("prometheus") or "prometheus",
                f"--config.file={configuration}",
                f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            directory / "prometheus.log",
        )
        until(f"Prometheus is ready: {self.process.output()}", lambda: answers(f"{self.base}/-/ready"))

    def ask(self, path, **parameters):
        url = f"{self.base}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        return json.loads(fetch(url))["data"]

    def query(self, expression):
        """Labels and values of an instant query."""
        data = self.ask("query", query=expression)
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(one["metric"], float(one["value"][1])) for one in data["result"]]
