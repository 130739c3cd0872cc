# SPDX-License-Identifier: Apache-2.0
"""Planted faults: each must be found, or the rounds prove nothing."""

import http.client
import http.server
import json
import re
import shutil
import socket
import socketserver
import threading

import cuts
import kills
import oracle
from service import UnixConnection
from waiting import Finding

ROUNDS = 8
ACKNOWLEDGED_SECONDS = 60


class Proxy(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Stands between the posting clients and the service, and deals with some of the batches in its own way."""

    daemon_threads = True

    def __init__(self, path, service, every, fault):
        self.service, self.every, self.fault, self.posts = service, every, fault, 0
        super().__init__(str(path), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts += 1
        is_chosen = self.server.posts % self.server.every == 0
        try:
            status, answer = (self.server.fault if is_chosen else Handler.forward)(self, body)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def forward(self, body, key=True):
        connection = UnixConnection(self.server.service.http)
        headers = {name: value for name, value in self.headers.items() if key or name != "Idempotency-Key"}
        connection.request("POST", self.path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def log_message(self, *_):
        pass


def forgets(handler, body):
    """Acknowledges a batch that it does not forward."""
    return 200, json.dumps({"accepted": body.count(b'"eventId"'), "duplicates": 0, "rejected": []}).encode()


def doubles(handler, body):
    """Forwards a batch, and then each of its events at another time of its own."""
    answer = handler.forward(body)
    handler.forward(re.sub(rb'("timestamp":"[\d-]+T)(\d\d)', lambda found: found[1] + b"%02d" % ((int(found[2]) + 1) % 24),
                           body), key=False)
    return answer


class Proxied(kills.Campaign):
    def client_path(self):
        path = self.directory / "proxy.sock"
        Proxy(path, self.service, 3, self.fault)
        return path


class Forgetting(Proxied):
    """a proxy acknowledges batches that it does not forward"""
    fault, expected = staticmethod(forgets), "acknowledged events are not in the ledger"


class Doubling(Proxied):
    """a proxy forwards batches twice, under other times"""
    fault, expected = staticmethod(doubles), "events are in the ledger more than once"


class RollingBack(kills.Campaign):
    """an older copy of the ledger is put back"""
    expected = "fell from|is gone|acknowledged events are not in the ledger"
    rounds = 16
    copied = None

    def after_kill(self):
        older, acknowledged = self.directory / "older", len(self.record.acknowledged)
        if self.copied is None and acknowledged:
            self.copied = acknowledged
            shutil.copytree(self.service.state, older)
        elif older.exists() and acknowledged > self.copied:
            for path in self.service.state.iterdir():
                path.unlink()
            older.rename(older.with_name("put-back"))
            shutil.copytree(older.with_name("put-back"), self.service.state, dirs_exist_ok=True)


class JournalingTwice(kills.Campaign):
    """an entry is written to the journal twice"""
    expected = "numbers are in the journal more than once"
    rounds = 1

    def verify(self):
        entry = self.run.journald.entries()[0]
        fields = {name: value for name, value in entry.items() if name.startswith("DNP_")}
        lines = [f"{name}={value}" for name, value in (fields | {"SYSLOG_IDENTIFIER": "dnp-telemetry"}).items()]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
            journal.sendto(("\n".join(lines) + "\n").encode(), "/run/systemd/journal/socket")
        super().verify()


class OtherTruth(kills.Campaign):
    """an event that the fleet does not have is counted"""
    expected = "simulate --verify ended with 1"
    rounds = 1

    def verify(self):
        self.service.start()
        self.service.wait_ready()
        self.post_unknown()
        self.service.stop()
        super().verify()

    def post_unknown(self):
        connection = UnixConnection(self.service.http)
        event = {"event": "prefetch_scheduled", "timestamp": "2025-11-15T05:48:32Z", "scheduleId": "not-of-the-fleet",
                 "scheduledFor": "2025-11-15T06:00:00Z"}
        connection.request("POST", "/v1/events", json.dumps(event), {"Content-Type": "application/json"})
        connection.getresponse().read()


class LosingCuts(cuts.Campaign):
    """Each cut waits until all is acknowledged, however slow the machine is, and keeps nothing that waits to be written."""

    rounds = 12

    def arm(self, **settings):
        super().arm(**(settings | {"keep": "none", "at": None}))

    def until_cut(self, rows, limit):
        return super().until_cut(rows, limit=ACKNOWLEDGED_SECONDS)


class Unsynchronised(LosingCuts):
    """a service that promises power does not sync"""
    expected = "acknowledged events are not in the ledger after the cut"

    def __init__(self, run, number, rounds):
        super().__init__(run, number, rounds)
        self.promised = "power"

    def options(self):
        return ["--durability", "process", "--journal", "off"]


class LyingDisk(LosingCuts):
    """a disk that ignores flushes"""
    expected = "acknowledged events are not in the ledger after the cut|set_aside|rebuild ended"

    def arm(self, **settings):
        super().arm(lies=True, **settings)


PLANTED = [Forgetting, Doubling, RollingBack, JournalingTwice, OtherTruth, Unsynchronised, LyingDisk]


def show(run_of):
    """Runs each planted fault until it is found, and returns how many were not."""
    failed = check_oracle()
    for number, fault in enumerate(PLANTED, 1):
        campaign = fault(run_of("cuts" if issubclass(fault, cuts.Campaign) else "kills"), number, getattr(fault, "rounds", ROUNDS))
        found = None
        try:
            campaign.run_all()
        except Finding as finding:
            found = str(finding)
        is_found = found is not None and re.search(fault.expected, found) is not None
        failed += not is_found
        print(f"{'ok  ' if is_found else 'FAIL'}  {fault.__doc__}: {(found or 'not found').strip()}", flush=True)
    return failed


def check_oracle():
    """Each sentence of the oracle, and its silence."""
    page = {"dnp_prefetch_scheduled_total": 3.0, "dnp_telemetry_events_received_total{format=\"json\"}": 4.0,
            "dnp_telemetry_events_accepted_total": 3.0, "dnp_telemetry_events_duplicate_total": 1.0,
            "dnp_telemetry_accepted_effects_total{effect=\"counted\"}": 3.0}

    def watched(*pages):
        watch = oracle.PageWatch()
        return [finding for one in pages for finding in watch.see(one)]

    offered = {"a": 0, "b": 1}
    entries = [{"DNP_LEDGER": "l", "DNP_SEQ": "1"}, {"DNP_LEDGER": "l", "DNP_SEQ": "2"}]
    cases = [
        (oracle.compare(["a", "b"], offered, {"a"}, "ledger"), None),
        (oracle.compare(["b"], offered, {"a"}, "ledger"), "1 acknowledged events are not"),
        (oracle.compare(["a", "a"], offered, {"a"}, "ledger"), "more than once: a"),
        (oracle.compare(["a", "c"], offered, {"a"}, "ledger"), "never sent: c"),
        (oracle.prefix(["a", "b"], [["a"], ["b"], ["c"]], "ledger"), None),
        (oracle.prefix(["b"], [["a"], ["b"]], "ledger"), "lacks a, and has b"),
        (oracle.prefix(["a"], [["a", "b"]], "ledger"), "in part"),
        (oracle.numbers([1, 2, 3], "ledger"), None),
        (oracle.numbers([1, 3], "ledger"), "3 follows 1"),
        (oracle.numbers([1, 1], "ledger"), "1 follows 1"),
        (oracle.journal(entries, 2), None),
        (oracle.journal(entries + entries[:1], 2), "more than once"),
        (oracle.journal(entries, 3), "not in the journal: 3"),
        (oracle.journal(entries + [{"DNP_LEDGER": "m", "DNP_SEQ": "3"}], 3), "2 lives"),
        (watched(page, page), None),
        (watched(page, page | {"dnp_prefetch_scheduled_total": 2.0}), "fell from 3 to 2"),
        (watched(page, {name: value for name, value in page.items() if "scheduled" not in name}), "is gone"),
        (watched(page | {"dnp_telemetry_events_duplicate_total": 0.0}), "received 4, but"),
        (watched(page | {"dnp_telemetry_accepted_effects_total{effect=\"counted\"}": 2.0}), "effects add up to 2"),
    ]
    failed = 0
    for findings, expected in cases:
        text = "; ".join(findings)
        if (expected or "") not in text or (expected is None and text):
            failed += 1
            print(f"FAIL  the oracle says {text!r}, expected {expected!r}", flush=True)
    return failed
