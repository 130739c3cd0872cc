#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a ledger with an executable of an earlier version, for RecordedLedgerTests.

    record.py EXECUTABLE NAME

writes NAME.tar.gz: the state directory after kill -9, with batches behind its last checkpoint, and the counters of its
last page. Run it as root: the followed files are in /var/log/device, in a mount namespace of their own.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request

FIXTURES = pathlib.Path(__file__).resolve().parent
LOGS = pathlib.Path("/var/log/device")
PORT = 20911


def event(kind, second, **members):
    return json.dumps({"event": kind, "timestamp": f"2025-11-15T05:50:{second:02}Z", **members}, separators=(",", ":"))


def whole(installation, schedule):
    """A cycle from its scheduling to its notification."""
    names = {"installationId": installation, "scheduleId": schedule}
    return [
        event("prefetch_scheduled", 0, scheduledFor="2025-11-15T05:53:00Z", **names),
        event("prefetch_executed", 1, **names),
        event("prefetch_success", 3, **names),
        event("prefetch_used_for_notification", 40, **names),
        event("notification_delivered", 40, **names),
    ]


def failed(installation, schedule):
    """A cycle whose fetch failed."""
    names = {"installationId": installation, "scheduleId": schedule}
    return [
        event("prefetch_scheduled", 0, scheduledFor="2025-11-15T05:53:00Z", **names),
        event("prefetch_executed", 1, **names),
        event("prefetch_failure", 3, reason="NETWORK", willRetry=False, **names),
        event("content_missing", 40, **names),
        event("notification_delivered", 40, **names),
    ]


# Their notifications lie far ahead, so that they are open whenever the ledger is opened again.
def begun(schedule, minute, **members):
    return [event("prefetch_scheduled", 5, scheduleId=schedule, scheduledFor=f"2099-11-15T12:{minute}:00Z", **members)]


def ended(schedule, reason, **members):
    return [
        event("prefetch_executed", 6, scheduleId=schedule, **members),
        event("prefetch_failure", 8, scheduleId=schedule, reason=reason, willRetry=False, **members),
    ]


POSTED = whole("phone-1", "daily") + failed("phone-2", "daily")
POSTED += begun("open-1", 10, installationId="phone-1")
POSTED += begun("open-2", 20)
LINES = [
    "2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=open-3, type=DAILY, time=2099-11-15T12:30:00Z)",
    "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2099-11-15T12:25:00Z)",
]
REST = [
    "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
    "2025-11-15T05:50:01Z [DNP-FETCH] Starting fetch (scheduleId=open-3)",
    "2025-11-15T05:50:03Z [DNP-FETCH] Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
]


def post(lines, kind="application/x-ndjson", **headers):
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/v1/events",
        data=("\n".join(lines) + "\n").encode(),
        headers={"Content-Type": kind, **headers},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def page():
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=10) as answer:
        return answer.read().decode()


def wait(until):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if until():
                return
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit("the service did not get there in 30 s")


def start(executable, state):
    files = [LOGS / "phone.log", LOGS / "events.ndjson"]
    options = [option for file in files for option in ("--follow", str(file))]
    service = subprocess.Popen(
        [executable, "serve", "--listen", f"127.0.0.1:{PORT}", "--state-dir", state, "--journal", "off", *options]
    )
    wait(lambda: "dnp_" in page())
    return service


def value(text, name):
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(name + r"(\{.*)? ", line))


def main():
    executable, name = os.path.abspath(sys.argv[1]), sys.argv[2]
    if os.environ.get("RECORDING") != "1":
        os.environ["RECORDING"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])
    with tempfile.TemporaryDirectory() as room:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/var/log"], check=True)
        LOGS.mkdir()
        (LOGS / "phone.log").write_text("\n".join(LINES) + "\n")
        (LOGS / "events.ndjson").write_text("\n".join(begun("open-4", 40)) + "\n")
        state = f"{room}/state"
        service = start(executable, state)
        wait(lambda: value(page(), "dnp_prefetch_scheduled_total") == 2)
        post(POSTED[:11], **{"Idempotency-Key": "first"})
        service.send_signal(signal.SIGTERM)
        service.wait()
        # Behind the checkpoint of the stop.
        service = start(executable, state)
        post(POSTED[11:])
        wait(lambda: value(page(), "dnp_prefetch_scheduled_total") == 6)
        text = page()
        service.kill()
        service.wait()
        counters = {}
        for line in text.splitlines():
            if line.startswith("dnp_prefetch_") and "_total" in line.split("{")[0].split(" ")[0]:
                series, number = line.rsplit(" ", 1)
                counters[series] = float(number)
        record = {
            "recordedAt": int(time.time()),
            "posted": POSTED,
            "log": {"read": LINES, "rest": REST},
            "events": {"read": begun("open-4", 40), "rest": ended("open-4", "SYSTEM")},
            "rest": ended("open-1", "NETWORK", installationId="phone-1") + ended("open-2", "AUTH"),
            "counters": counters,
            "openCycles": value(text, "dnp_prefetch_open_cycles"),
        }
        with tarfile.open(FIXTURES / f"{name}.tar.gz", "w:gz") as archive:
            for file in sorted(pathlib.Path(state).iterdir()):
                if file.is_file() and not file.name.endswith(("-shm", ".lock", ".reserve")):
                    archive.add(file, file.name)
        (FIXTURES / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        print(f"recorded {name}")


main()
