# SPDX-License-Identifier: Apache-2.0
"""A real systemd-journald in this run's namespaces."""

import json
import pathlib
import shutil
import subprocess

from waiting import until

EXECUTABLE = "/lib/systemd/systemd-journald"
FILES = pathlib.Path("/var/log/journal")
SETTINGS = """[Journal]
Storage=persistent
SystemMaxUse=1G
Audit=no
RateLimitIntervalSec=1s
RateLimitBurst=100000000
"""


class Journald:
    def __init__(self, log):
        self.log, self.process = log, None

    def start_empty(self):
        """Begins a journal without entries."""
        self.kill()
        shutil.rmtree(FILES, ignore_errors=True)
        FILES.mkdir()
        pathlib.Path("/run/systemd/journald.conf.d").mkdir(parents=True, exist_ok=True)
        pathlib.Path("/run/systemd/journald.conf.d/crash.conf").write_text(SETTINGS)
        self.start()

    def start(self):
        directory = pathlib.Path("/run/systemd/journal")
        directory.mkdir(parents=True, exist_ok=True)
        # journald writes to /run until this file says that /var is mounted.
        (directory / "flushed").touch()
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen([EXECUTABLE], stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def ensure(self):
        """Starts it unless it runs."""
        if self.process is None:
            self.start()

    def entries(self):
        """The entries that `journalctl -t dnp-telemetry` lists, oldest first."""
        until(lambda: subprocess.run(["journalctl", "--sync"], capture_output=True).returncode == 0, "journald answers")
        listing = subprocess.run(
            ["journalctl", "-q", "--all", "-o", "json", "-t", "dnp-telemetry",
             "--output-fields=DNP_LEDGER,DNP_SEQ,DNP_EVENT,DNP_EVENT_ID"],
            check=True, capture_output=True, text=True,
        ).stdout
        return [json.loads(line) for line in listing.splitlines()]
