#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a ledger with an executable of an earlier version, for RecordedLedgerTests.

    record.py EXECUTABLE NAME [--journald]

writes NAME.tar.gz: the state directory after kill -9, with batches behind its last checkpoint, and NAME.json: what was
sent, what comes after the upgrade, and all series that the executable itself continues from that directory. Run it as
root: the followed files are in /var/log/device, in a mount namespace of their own. Without journald all batches stay;
with a journald of its own the ledger has positions in the journal, and batches that were confirmed are deleted.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request

FIXTURES = pathlib.Path(__file__).resolve().parent
LOGS = pathlib.Path("/var/log/device")
PORT = 20911
IS_JOURNALED = "--journald" in sys.argv
JOURNAL = ["--follow-journal", "SYSLOG_IDENTIFIER=relay"] if IS_JOURNALED else ["--journal-socket", "/run/no-journald"]


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


HASH = "0123456789abcdef" * 2
# Ids that earlier versions kept as they were sent, or replaced only where a pattern found something personal.
ODD = [
    "someone@example.org",
    "+49 171 1234567",
    "0171 1234568",
    "access-9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "T\u00e4glich um neun",
    "daily/2099-11-15?hour=12",
    "did:web:example.org",
    "x" * 128,
]


def odd():
    """Open cycles under odd ids, whose events have odd ids too."""
    events = []
    for number, name in enumerate(ODD):
        ids = {"installationId": "phone-3", "scheduleId": name}
        due = f"2099-11-15T13:{number:02}:00Z"
        events.append(event("prefetch_scheduled", 9, scheduledFor=due, eventId=f"{name} 1"[-128:], **ids))
        events.append(event("prefetch_executed", 10, eventId=f"evt-{number}", **ids))
    return events


def ended_odd():
    return [event("prefetch_success", 12, installationId="phone-3", scheduleId=name) for name in ODD]


def passes():
    """Three days of one id, and attempts of every kind."""
    ids = {"installationId": "phone-4", "scheduleId": "daily"}
    events = [
        event("prefetch_scheduled", 14 + day, scheduledFor=f"2099-11-1{5 + day}T14:00:00Z", **ids) for day in range(3)
    ]
    ids = {"installationId": "phone-5", "scheduleId": "attempts"}
    events += [
        event("prefetch_scheduled", 18, scheduledFor="2099-11-15T14:10:00Z", scheduleHash=HASH, **ids),
        event("prefetch_executed", 19, scheduleHash=HASH, **ids),
        event("prefetch_failure", 20, reason="NETWORK", willRetry=True, **ids),
        event("prefetch_success", 21, ttl=86400, contentHash=HASH, duration_ms=1500, **ids),
        event("prefetch_executed", 30, **ids),
        # Without a reason: the next attempt ends it.
        event("prefetch_failure", 31, **ids),
        event("prefetch_executed", 40, **ids),
        event("prefetch_failure", 41, status=401, **ids),
    ]
    # Its reason is not known yet.
    ids = {"installationId": "phone-5", "scheduleId": "silent"}
    events += [
        event("prefetch_scheduled", 22, scheduledFor="2099-11-15T14:20:00Z", **ids),
        event("prefetch_executed", 23, **ids),
        event("prefetch_failure", 24, **ids),
    ]
    counters = {"dnp_prefetch_scheduled_total": 4, "dnp_prefetch_executed_total": 3}
    events += [
        event("telemetry_snapshot", 50, installationId="phone-6", telemetry=counters),
        event("notification_denied", 51, installationId="phone-6", error="notifications_denied"),
        event("content_cache_failed", 52, installationId="phone-6"),
    ]
    return events


POSTED = whole("phone-1", "daily") + failed("phone-2", "daily")
POSTED += begun("open-1", 10, installationId="phone-1")
FIRST = len(POSTED)
POSTED += begun("open-2", 20) + odd() + passes()
LINES = [
    "2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=open-3, type=DAILY, time=2099-11-15T12:30:00Z)",
    "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2099-11-15T12:25:00Z)",
]
REST = [
    "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
    "2025-11-15T05:50:01Z [DNP-FETCH] Starting fetch (scheduleId=open-3)",
    "2025-11-15T05:50:03Z [DNP-FETCH] Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
]

# Shipped by `send` of that version, which did not say what file it was; then they grow.
SENT_EVENTS = [line for number in range(1, 8) for line in begun(f"sent-{number}", 40 + number)]
SENT_EVENTS += [event("prefetch_executed", 6, scheduleId=f"sent-{number}") for number in range(1, 8)]
SENT_EVENTS += [
    event("prefetch_failure", 8, scheduleId="sent-1", reason="NETWORK", willRetry=False),
    event("prefetch_failure", 8, scheduleId="sent-2"),
    event("prefetch_scheduled", 9, scheduleId=ODD[0], scheduledFor="2099-11-15T15:10:00Z", eventId="evt-77"),
    event("prefetch_scheduled", 9, scheduleId="sent-8", scheduledFor="2099-11-15T15:15:00Z", eventId=ODD[3]),
    event("prefetch_scheduled", 9, scheduleId=ODD[4], scheduledFor="2099-11-15T15:20:00Z"),
]
SENT_LOG = [
    "2025-11-15T05:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=sent-log, type=DAILY, time=2099-11-15T15:30:00Z)",
    "2025-11-15T05:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2099-11-15T15:25:00Z)",
    "2025-11-15T05:50:00Z [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)",
    "2025-11-15T05:50:01Z [DNP-FETCH] Starting fetch (scheduleId=sent-log)",
    "2025-11-15T05:50:03Z [DNP-FETCH] Fetch success: id=sent-log fetchDurationMs=1200 ttl=86400",
]
GROWN_LOG = [
    "2025-11-15T06:41:00Z [DNP-STORAGE] Persisted schedule to DB (id=grown-log, type=DAILY, time=2099-11-15T16:30:00Z)",
    "2025-11-15T06:41:00Z [DNP-FETCH] BGAppRefreshTask scheduled (earliestBeginDate=2099-11-15T16:25:00Z)",
]


def hosted(lines):
    """The same lines in syslog, which names the device."""
    return [f"<14>1 {line[:20]} phone-a app 7 - - {line[21:]}".replace("-log", "-host") for line in lines]


SENT = [
    {"name": "events.ndjson", "read": SENT_EVENTS, "rest": begun("grown", 59)},
    {"name": "device.log", "read": SENT_LOG, "rest": GROWN_LOG},
    {"name": "hosts.log", "read": hosted(SENT_LOG), "rest": hosted(GROWN_LOG)},
]


def send(executable, room, sent):
    path = f"{room}/{sent['name']}"
    pathlib.Path(path).write_text("\n".join(sent["read"]) + "\n")
    run = [executable, "send", path, "--to", f"http://127.0.0.1:{PORT}", "--format", "json"]
    result = json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE).stdout)
    if result["ending"] != "complete" or result["accepted"] == 0 or result["rejected"]:
        sys.exit(f"{sent['name']} was not sent: {result}")
    sent["accepted"] = result["accepted"]


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


def journald():
    """Starts a journald whose sockets and files are its own."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755,size=256m", "tmpfs", "/run"], check=True)
    for directory in ("/run/systemd/journal", "/run/systemd/journald.conf.d", "/var/log/journal"):
        os.makedirs(directory)
    settings = pathlib.Path("/run/systemd/journald.conf.d/record.conf")
    settings.write_text("[Journal]\nStorage=persistent\nAudit=no\nRateLimitBurst=0\n")
    pathlib.Path("/run/systemd/journal/flushed").touch()
    process = subprocess.Popen(["/lib/systemd/systemd-journald"])
    wait(lambda: subprocess.run(["journalctl", "--sync"], stderr=subprocess.DEVNULL).returncode == 0)
    return process


def log(room, lines):
    entry = pathlib.Path(f"{room}/entry")
    entry.write_text("".join(f"MESSAGE={line}\n" for line in lines) + "SYSLOG_IDENTIFIER=relay\n")
    subprocess.run(["logger", f"--journald={entry}"], check=True)


def pruned(state):
    with sqlite3.connect(f"file:{state}/ledger.sqlite?mode=ro", uri=True) as ledger:
        return ledger.execute("SELECT pruned_batch FROM meta").fetchone()[0]


def start(executable, state):
    files = [LOGS / "phone.log", LOGS / "events.ndjson"]
    options = [option for file in files for option in ("--follow", str(file))]
    service = subprocess.Popen(
        [executable, "serve", "--listen", f"127.0.0.1:{PORT}", "--state-dir", state, *options, *JOURNAL]
    )
    wait(lambda: "dnp_" in page())
    return service


def value(text, name):
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(name + r"(\{.*)? ", line))


def series(text):
    """The samples of counters and histograms."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    found = {}
    for line in text.splitlines():
        if line.startswith("dnp_"):
            name = re.split(r"[ {]", line)[0]
            family = re.sub("_(bucket|sum|count)$", "", name)
            if types.get(name) == "counter" or types.get(family) == "histogram":
                key, number = line.rsplit(" ", 1)
                found[key] = float(number)
    return found


def continued(executable, state, room):
    """The series that the executable itself continues, on a copy of the directory."""
    copy = f"{room}/copy"
    shutil.copytree(state, copy)
    service = start(executable, copy)
    try:
        wait(lambda: value(page(), "dnp_prefetch_open_cycles") > 0)
        return page()
    finally:
        service.kill()
        service.wait()


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
        journal = journald() if IS_JOURNALED else None
        service = start(executable, state)
        if journal:
            log(room, [line.replace("sent-log", "journal-log") for line in SENT_LOG])
        wait(lambda: value(page(), "dnp_prefetch_scheduled_total") == (3 if journal else 2))
        post(POSTED[:FIRST], **{"Idempotency-Key": "first"})
        for sent in SENT:
            send(executable, room, sent)
        service.send_signal(signal.SIGTERM)
        service.wait()
        # Behind the checkpoint of the stop.
        service = start(executable, state)
        answer = post(POSTED[FIRST:] + ['{"event":"prefetch_executed"}'])
        if answer["accepted"] != len(POSTED) - FIRST or len(answer["rejected"]) != 1:
            sys.exit(f"the second post was answered {answer}")
        if journal:
            wait(lambda: pruned(state) > 0)
            time.sleep(2)
        text = page()
        recorded = int(time.time())
        service.kill()
        service.wait()
        after = series(continued(executable, state, room))
        if journal:
            journal.kill()
            journal.wait()
        record = {
            "recordedAt": recorded,
            "isPruned": pruned(state) > 0,
            "posted": POSTED,
            "first": FIRST,
            "log": {"read": LINES, "rest": REST},
            "events": {"read": begun("open-4", 40), "rest": ended("open-4", "SYSTEM")},
            "sent": SENT,
            "rest": ended("open-1", "NETWORK", installationId="phone-1") + ended("open-2", "AUTH") + ended_odd(),
            # Zeros of other families, and what scrapes take, are of the process alone.
            "counters": {
                key: number
                for key, number in series(text).items()
                if after.get(key) == number
                and (number or key.startswith("dnp_prefetch_"))
                and not key.startswith("dnp_telemetry_scrape")
            },
            "openCycles": value(text, "dnp_prefetch_open_cycles"),
        }
        with tarfile.open(FIXTURES / f"{name}.tar.gz", "w:gz") as archive:
            for file in sorted(pathlib.Path(state).iterdir()):
                if file.is_file() and not file.name.endswith(("-shm", ".lock", ".reserve")):
                    archive.add(file, file.name)
        (FIXTURES / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        print(f"recorded {name}")


main()
