# SPDX-License-Identifier: Apache-2.0
"""What the checks ask of the installed service."""

import json
import re
import time

from machine import Failure, until

UNIT = "dnp-telemetry.service"
SOCKETS = "dnp-telemetry.socket dnp-telemetry-lines.socket"
BASE = "http://127.0.0.1:10910"
LINES = "/run/dnp-telemetry/lines.sock"
CONFIGURATION = "/etc/dnp-telemetry/config.yml"


def require(fact, sentence):
    if not fact:
        raise Failure(sentence)


def fetch(machine, path, seconds=30):
    return machine.run(f"curl -sSf -m {seconds} {BASE}{path}", timeout=seconds + 5).stdout


def status(machine, path, options=""):
    """The status of an answer."""
    return machine.run(f"curl -sS -m 30 -o /dev/null -w '%{{http_code}}' {options} {BASE}{path}").stdout


def post(machine, events, seconds=60):
    """Posts events and returns the answer."""
    body = "".join(json.dumps(event) + "\n" for event in events)
    answer = machine.run(
        f"curl -sS -m {seconds} --data-binary @- -H 'Content-Type: application/x-ndjson' {BASE}/v1/events",
        stdin=body, timeout=seconds + 5,
    ).stdout
    return json.loads(answer)


def scheduled(name, count, start=0):
    """Events that each count once."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return [
        {"event": "prefetch_scheduled", "timestamp": stamp, "scheduleId": f"{name}-{index}"}
        for index in range(start, start + count)
    ]


def samples(machine):
    """The samples of the page, by name and labels as they stand there."""
    page = fetch(machine, "/metrics")
    return {name: float(value) for name, value in re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", page, re.M)}


def counted(machine):
    return int(samples(machine)["dnp_prefetch_scheduled_total"])


def confirmed(machine, seconds=60):
    """Waits until every event is read back from the journal."""
    until(
        lambda: samples(machine)["dnp_telemetry_journal_pending_entries"] == 0,
        "every event to be confirmed in the journal", seconds, every=0.2,
    )


def sequences(machine):
    """The ledger numbers of all entries in the journal, as often as they stand there."""
    lines = machine.run(
        "journalctl -t dnp-telemetry DNP_EVENT=prefetch_scheduled -o json --output-fields=DNP_SEQ -q"
        " | grep -o '\"DNP_SEQ\":\"[0-9]*\"' | tr -dc '0-9\\n'",
        timeout=120,
    ).stdout
    return [int(line) for line in lines.split()]


def main_process(machine):
    return int(machine.show(UNIT, "MainPID"))


def active(machine):
    return machine.show(UNIT, "ActiveState") == "active"
