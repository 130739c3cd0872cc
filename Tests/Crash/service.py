# SPDX-License-Identifier: Apache-2.0
"""`dnp-telemetry serve`, its page and its ledger."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

from waiting import Finding, until

SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*(?:\{.*\})?) (\S+)$", re.M)
# The service runs three hours late until a campaign ends, so that its cycles close without waiting.
LATE_SECONDS = 3 * 3600
# What of the page tells why it is not as it should be.
TOLD = ("dnp_telemetry_events_accepted", "dnp_telemetry_events_duplicate", "dnp_telemetry_journal_", "dnp_telemetry_follow_",
        "dnp_prefetch_open_cycles", "aiq_background_refresh_open_runs", "dnp_telemetry_clock_doubted")
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


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=10):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Service:
    """Outlives its process: a restart has the same ledger, sockets and options."""

    def __init__(self, executable, directory, options):
        self.executable, self.directory, self.options = executable, pathlib.Path(directory), options
        self.http, self.lines = self.directory / "http.sock", self.directory / "lines.sock"
        self.state = self.directory / "state"
        self.trace = self.directory / "trace"
        self.process, self.starts, self.preload = None, 0, None

    def start(self, injection=None, listener=None):
        """Starts the process and waits for nothing. strace carries out the injection, a text of its `inject=`."""
        self.starts += 1
        listen = listener or self.http
        command = [self.executable, "serve", "--listen", f"unix:{listen}", "--listen", f"unix:{self.lines} serve=lines",
                   "--state-dir", str(self.state), "--retention", "7d", "--quiet", *self.options]
        environment = os.environ | {"NO_COLOR": "1"}
        if injection:
            # Detached: the child is the service, and strace ends with it.
            traced = injection.partition(":")[0]
            command = ["strace", "-D", "-qq", "-f", "--seccomp-bpf", "-o", str(self.trace), "-e", f"trace={traced}", "-e",
                       "signal=none", "-e", f"inject={injection}",
                       *(["-E", f"LD_PRELOAD={self.preload}"] if self.preload else []), *command]
        elif self.preload:
            environment["LD_PRELOAD"] = str(self.preload)
        with open(self.directory / "service.log", "ab") as log:
            log.write(f"--- start {self.starts}\n".encode())
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """Kills the process and returns how it ended."""
        if self.process is None:
            return None
        self.process.kill()
        return self.process.wait(timeout=60)

    def stop(self):
        """Ends it by SIGTERM, as a service manager does."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            raise Finding("SIGTERM did not end the service within 30 s") from None
        if status != 0:
            raise Finding(f"SIGTERM ended the service with {status}")

    def is_ready(self):
        return self.get("/-/ready")[0] == 200

    def wait_ready(self, seconds=30):
        """True once it is ready, false if it ends before that."""
        end = time.monotonic() + seconds
        while self.runs:
            if self.is_ready():
                return True
            if time.monotonic() > end:
                raise Finding(f"the service is not ready within {seconds} s")
            time.sleep(0.005)
        return False

    def get(self, path):
        """Status and text of an answer; nothing of a service that is not there."""
        connection = UnixConnection(self.http)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None, ""
        finally:
            connection.close()

    def page(self):
        """The samples of the metrics by name and labels, or nothing."""
        status, text = self.get("/metrics")
        return {name: float(value) for name, value in SAMPLE.findall(text)} if status == 200 else None

    def run_late(self):
        """Sets the clock of the next starts back."""
        source, library = self.directory / "clock.c", self.directory / "clock.so"
        source.write_text(CLOCK.replace("SECONDS", str(LATE_SECONDS)))
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        self.preload = library

    def command(self, *arguments, timeout=60):
        return subprocess.run([self.executable, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)

    def dump(self):
        """What the ledger of a service that does not run holds, read from a copy, which a finding leaves behind."""
        copy = self.directory / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        if not self.state.exists():
            return []
        shutil.copytree(self.state, copy)
        # A ledger whose creation has not ended has acknowledged nothing.
        if not (copy / "ledger.sqlite").exists() or (copy / "ledger.new").exists():
            return []
        listing = self.command("ledger", "dump", "--quiet", "--state-dir", copy)
        if listing.returncode != 0:
            raise Finding(f"ledger dump ended with {listing.returncode}: {listing.stderr.strip()[-500:]}")
        return [json.loads(line) for line in listing.stdout.splitlines()]


def wait_for(service, fact, what, seconds=60):
    """Waits for a fact about the page of a service that must go on."""
    last = {}

    def found():
        if not service.runs:
            raise Finding(f"the service ended by itself, with {service.process.returncode}, before: {what}")
        page = service.page()
        last.update(page or {})
        return page is not None and fact(page) and page
    try:
        return until(found, what, seconds, every=0.05)
    except Finding as finding:
        told = {name: value for name, value in last.items() if value and name.startswith(TOLD)}
        raise Finding(f"{finding}; the page has {told}") from None
