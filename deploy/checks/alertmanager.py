#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the routes of deploy/alertmanager with amtool for every alert, then in a real Alertmanager.

Every alert must reach the receiver of its severity. Alerts that are posted repeatedly, as Prometheus does, must reach a
webhook once when they fire and once when they resolve, and inhibited ones not at all.
"""

import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from processes import Failure, Process, answers, fetch, free_port, until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deploy" / "alertmanager" / "alertmanager.yml"
ROUNDS = 3
# Alerts as name, severity and instance; RECEIVED has those that must reach a receiver.
POSTED = (
    ("DnpTargetDown", "critical", "a:1"),
    ("DnpJournalDown", "warning", "a:1"),  # inhibited: a:1 is down
    ("DnpLedgerNotCommitting", "critical", "a:1"),
    ("DnpJournalDown", "warning", "b:1"),
    ("DnpJournalLagging", "warning", "b:1"),  # inhibited: journald is down
    ("DnpJournalLagging", "warning", "c:1"),
    ("DnpLedgerNotCommitting", "critical", "c:1"),
    ("DnpRequestsFailing", "warning", "c:1"),  # inhibited: the ledger cannot commit
    ("DnpLedgerRefusing", "warning", "c:1"),  # likewise
    ("DnpSuccessBurnFast", "critical", ""),
    ("DnpSuccessBurnSlow", "warning", ""),  # inhibited: the fast one fires
    ("DnpIntegrityMismatch", "critical", ""),
    ("DnpRefreshNothingCompleted", "critical", ""),
    ("DnpRefreshExpirationsRising", "warning", ""),  # inhibited: nothing completes
    ("DnpRefreshNotifiedTooSoon", "warning", ""),
    ("DnpNew", "strange", "c:1"),
    ("Another", "critical", "a:1"),  # of another program
)
RECEIVED = {
    ("dnp-critical", "DnpTargetDown", "a:1"),
    ("dnp-warning", "DnpJournalDown", "b:1"),
    ("dnp-warning", "DnpJournalLagging", "c:1"),
    ("dnp-critical", "DnpLedgerNotCommitting", "c:1"),
    ("dnp-critical", "DnpSuccessBurnFast", ""),
    ("dnp-critical", "DnpIntegrityMismatch", ""),
    ("dnp-critical", "DnpRefreshNothingCompleted", ""),
    ("dnp-warning", "DnpRefreshNotifiedTooSoon", ""),
    ("dnp-other", "DnpNew", "c:1"),
}


def severities():
    """The shipped alerts with their severities."""
    found = {}
    for path in sorted((ROOT / "deploy" / "prometheus" / "rules").glob("*.yml")):
        for rule in re.split(r"(?m)^      - (?=alert:|record:)", path.read_text())[1:]:
            name, severity = re.match(r"alert: (\S+)", rule), re.search(r"severity: (\w+)", rule)
            if name and not severity:
                raise Failure(f"{path.name}: {name.group(1)} has no severity")
            if name:
                found[name.group(1)] = severity.group(1)
    return found


def check_routes(alerts):
    """Every alert routes to the receiver of its severity, and inhibitions name only existing alerts."""
    cases = {**alerts, "DnpNew": "strange"}
    for name, severity in cases.items():
        receiver = f"dnp-{severity if name in alerts else 'other'}"
        command = ["amtool", "config", "routes", "test", f"--config.file={SHIPPED}", f"--verify.receivers={receiver}"]
        labels = [f"alertname={name}", f"severity={severity}", "job=dnp-telemetry", "instance=127.0.0.1:10910"]
        done = subprocess.run(command + labels, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"{name} ({severity}) is not routed to {receiver}: {done.stdout}{done.stderr}")
    named = set(re.findall(r"\bDnp[A-Z]\w+", re.sub(r"#.*", "", SHIPPED.read_text())))
    if named - alerts.keys():
        raise Failure(f"alertmanager.yml names unknown alerts: {sorted(named - alerts.keys())}")
    return len(cases)


class Webhook(http.server.ThreadingHTTPServer):
    """Records notifications as (status, receiver, alert, instance)."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Taker)
        self.received = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def of(self, status):
        return sorted(one for state, *one in list(self.received) if state == status)


class Taker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for alert in message["alerts"]:
            labels = alert["labels"]
            one = (alert["status"], message["receiver"], labels["alertname"], labels.get("instance", ""))
            self.server.received.append(one)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def configuration(directory, url):
    """The shipped routes and inhibitions, with intervals of 0.3 s and receivers that post to the webhook."""
    text, _, receivers = SHIPPED.read_text().partition("\nreceivers:\n")
    text = re.sub(r"\b(group_wait|group_interval): \S+", r"\1: 300ms", text)
    made = "\nreceivers:\n"
    for name in re.findall(r"(?m)^  - name: (\S+)", receivers):
        made += f"  - name: {name}\n    webhook_configs: [{{url: '{url}', send_resolved: true}}]\n"
    # The shipped file drops alerts of other programs; here they arrive under the receiver "other".
    (directory / "alertmanager.yml").write_text(text + made)
    return directory / "alertmanager.yml"


def post(base, posted, ends=None):
    alerts = []
    for name, severity, instance in posted:
        labels = {"alertname": name, "severity": severity, "job": "dnp-telemetry"}
        if instance:
            labels["instance"] = instance
        alerts.append({"labels": labels, **({"endsAt": ends} if ends else {})})
    fetch(f"{base}/api/v2/alerts", json.dumps(alerts).encode(), "application/json")


def lookups(base):
    """How often Alertmanager looked up whether a group was already notified."""
    return int(re.search(r"(?m)^alertmanager_nflog_queries_total (\d+)", fetch(f"{base}/metrics")).group(1))


def wait_for_evaluation(base, groups):
    before = lookups(base)
    until("Alertmanager re-evaluated every group", lambda: lookups(base) >= before + 2 * groups)


def run(directory):
    webhook = Webhook()
    base = f"http://127.0.0.1:{free_port()}"
    process = Process(
        [
            shutil.which("prometheus-alertmanager") or "prometheus-alertmanager",
            f"--config.file={configuration(directory, f'http://127.0.0.1:{webhook.server_port}/')}",
            f"--storage.path={directory / 'data'}",
            f"--web.listen-address={base.removeprefix('http://')}",
            "--cluster.listen-address=",
        ],
        directory / "alertmanager.log",
    )
    try:
        until("Alertmanager is ready", lambda: process.output() is not None and answers(f"{base}/-/ready"))
        expected = sorted(list(one) for one in RECEIVED)
        groups = len({(receiver, instance) for receiver, _, instance in RECEIVED})
        for _ in range(ROUNDS):
            post(base, POSTED)
            wait_for_evaluation(base, groups)
        until("the webhook received the alerts", lambda: len(ours(webhook.of("firing"))) >= len(expected))
        expect("firing", ours(webhook.of("firing")), expected)
        ended = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
        # Inhibited alerts end first: if they ended with their cause, Alertmanager would send them as resolved.
        notified = {(name, instance) for _, name, instance in RECEIVED}
        post(base, [one for one in POSTED if (one[0], one[2]) not in notified], ends=ended)
        wait_for_evaluation(base, groups)
        post(base, [one for one in POSTED if (one[0], one[2]) in notified], ends=ended)
        until("the webhook received the resolved alerts", lambda: len(ours(webhook.of("resolved"))) >= len(expected))
        expect("resolved", ours(webhook.of("resolved")), expected)
    finally:
        process.end()
        webhook.shutdown()
    return len(expected)


def ours(received):
    return [one for one in received if one[0] != "other"]


def expect(status, received, expected):
    if received != expected:
        raise Failure(f"{status} alerts: expected {expected}, received {received}")


def main():
    try:
        count = check_routes(severities())
        with tempfile.TemporaryDirectory(prefix="dnp-alertmanager-") as directory:
            received = run(pathlib.Path(directory))
    except Failure as failure:
        sys.exit(f"deploy/checks/alertmanager.py: {failure}")
    print(f"alertmanager: {count} routes; {len(POSTED)} alerts posted {ROUNDS} times, {received} received once each")


if __name__ == "__main__":
    main()
