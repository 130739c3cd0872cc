#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three collectors behind HAProxy count exactly what was sent while one is killed and restarted and another moves.

Many installations retry batches until they are acknowledged, and later send all of them again, like a client that lost
the response. Meanwhile one collector is killed, stays down while the others serve, and restarts; another moves to a
different directory and port. Then every total on the pages, and in VictoriaMetrics, to which Prometheus writes, must
equal what was sent.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import signal
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from fleets import Fleet  # noqa: E402
from processes import Failure, fetch, until  # noqa: E402

INSTALLATIONS = 300
SENDERS = 12
ROUNDS = 3
SECONDS = 90
FAMILIES = {
    "scheduled": "dnp_prefetch_scheduled_total",
    "executed": "dnp_prefetch_executed_total",
    "success": "dnp_prefetch_success_total",
    "failure": "dnp_prefetch_failure_total",
    "used": "dnp_prefetch_used_for_notification_total",
    "refresh_checked": "aiq_background_refresh_checks_total",
}


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def batch(installation, number, now):
    """The events of one cycle, and a check of the other app; every fourth cycle fails."""
    begin = now - 86400 * (number + 1) + installation
    kinds = [("prefetch_scheduled", {"scheduledFor": stamp(begin + 720)}), ("prefetch_executed", {})]
    if (installation + number) % 4 == 3:
        kinds.append(("prefetch_failure", {"reason": ("NETWORK", "AUTH", "SYSTEM")[installation % 3]}))
    else:
        kinds += [("prefetch_success", {}), ("prefetch_used_for_notification", {})]
    device = {"installationId": f"device-{installation}"}
    of = {"scheduleId": f"cycle-{number}", **device}
    check = {"event": "refresh_checked", "timestamp": stamp(begin), **device, "properties": {"available": False}}
    return [
        *({"event": kind, "timestamp": stamp(begin + at), **of, **more} for at, (kind, more) in enumerate(kinds)), check,
    ]


class Senders:
    """Installations that retry until they are acknowledged."""

    def __init__(self, fleet):
        self.fleet, self.lock, self.deadline = fleet, threading.Lock(), time.monotonic() + SECONDS
        self.sent, self.attempts = collections.Counter(), collections.Counter()
        self.acknowledged, self.faults = set(), []
        self.go_on = threading.Event()

    def run(self, number):
        now = time.time()
        mine = range(number, INSTALLATIONS, SENDERS)
        self.send([(cycle, one) for cycle in range(ROUNDS - 1) for one in mine], now)
        # The last round starts when the killed collector is back, during the move, and repeats all earlier batches.
        self.go_on.wait(SECONDS)
        self.send([(cycle, one) for cycle in reversed(range(ROUNDS)) for one in mine], now)

    def send(self, batches, now):
        waiting, again = collections.deque(batches), set()
        while waiting and not self.faults:
            if time.monotonic() > self.deadline:
                raise Failure(f"{len(waiting)} batches were not acknowledged within {SECONDS} s")
            # Retry a refused batch after the others.
            cycle, installation = waiting.popleft()
            if not self.attempt(installation, cycle, batch(installation, cycle, now)):
                waiting.append((cycle, installation))
                time.sleep(0.02)
            elif installation % 4 == 0 and (cycle, installation) not in again:
                again.add((cycle, installation))
                waiting.append((cycle, installation))

    def attempt(self, installation, cycle, events):
        headers = {"X-Installation": f"installation-{installation:016x}"}
        if installation % 2:
            headers["Idempotency-Key"] = f"{installation}-{cycle}"
        body = json.dumps(events).encode()
        status, answered, content = self.fleet.post(body, headers)
        with self.lock:
            self.attempts[status] += 1
        if status != 200:
            if status not in (0, 502, 503, 504) or (status == 503 and not answered.get("Retry-After")):
                self.faults.append(f"a response that clients do not retry: {status} {content.decode(errors='replace')}")
            return False
        if json.loads(content)["rejected"]:
            self.faults.append(f"events were rejected: {content.decode()}")
        with self.lock:
            if (installation, cycle) in self.acknowledged:
                return True
            self.acknowledged.add((installation, cycle))
            for event in events:
                self.sent[event["event"].removeprefix("prefetch_").removesuffix("_for_notification")] += 1
        return True


def totals(fleet):
    """Sums over the pages of all collectors."""
    sums = collections.Counter()
    for collector in fleet.collectors.values():
        for name, value in re.findall(r"(?m)^(\w+)(?:\{[^}]*\})? ([\d.e+]+)$", fetch(f"{collector.base}/metrics")):
            sums[name] += float(value)
    return sums


def recorded(database):
    checks = {"refresh_checked": value for _, value in database.query("sum(job:aiq_background_refresh_checks:total)")}
    return checks | {labels["event"]: value for labels, value in database.query("job:dnp_lifecycle:total")}


def disturb(fleet, senders):
    """Kills and restarts one collector and moves another, while all installations send."""
    killed = fleet.collectors["collector-2"]
    until("a third of the installations is acknowledged", lambda: len(senders.acknowledged) > INSTALLATIONS / 3)
    killed.process.end(signal.SIGKILL)
    others, refused = len(senders.acknowledged), senders.attempts[503]
    until(
        "the other collectors serve, and requests for the killed one get 503",
        lambda: len(senders.acknowledged) > others + INSTALLATIONS / 3 and senders.attempts[503] > refused + 20,
    )
    held = until("the totals are recorded", lambda: {one: n for one, n in recorded(fleet.prometheus).items() if n > 0})
    until("Prometheus sees one collector as down", lambda: fleet.prometheus.query('up{job="dnp-telemetry"} == 0'))
    until("the fleet's total is recorded without it", lambda: fleet.prometheus.query("job:dnp_collectors_up:ratio < 1"))
    now = recorded(fleet.prometheus)
    if any(now[event] < value for event, value in held.items()):
        raise Failure(f"the total dropped when a collector was killed: {held}, then {now}")
    killed.start()
    fleet.wait_until_ready(["collector-2"])
    senders.go_on.set()
    fleet.move("collector-3")


def check_totals(fleet, senders):
    expected = dict(senders.sent)
    sums = totals(fleet)
    pages = {event: sums[name] for event, name in FAMILIES.items()}
    if pages != expected:
        raise Failure(f"pages: expected {expected}, found {pages}")
    if sums["dnp_telemetry_events_accepted_total"] != sum(expected.values()):
        raise Failure(f"accepted {sums['dnp_telemetry_events_accepted_total']} of {sum(expected.values())} events")
    if not sums["dnp_telemetry_events_duplicate_total"]:
        raise Failure("no duplicate was sent, so the check proved nothing")
    for name, collector in fleet.collectors.items():
        if "dnp_telemetry_events_accepted_total 0\n" in fetch(f"{collector.base}/metrics"):
            raise Failure(f"{name} received no event")

    def stored():
        found = recorded(fleet.victoria)
        return {event: found.get(event) for event in expected} == expected

    try:
        until("VictoriaMetrics has the totals", stored, 30)
    except Failure as failure:
        raise Failure(f"{failure}: expected {expected}, found {recorded(fleet.victoria)}") from failure
    for total in ("job:dnp_lifecycle:total", "job:aiq_background_refresh_checks:total"):
        resets = fleet.victoria.query(f"max(resets({total}[10m]))")
        if not resets or resets[0][1] != 0:
            raise Failure(f"the recorded totals dropped: {total}: {resets}")
    series = fleet.victoria.query('count(last_over_time(dnp_prefetch_executed_total{job="dnp-telemetry"}[10m]))')
    if [value for _, value in series] != [len(fleet.collectors)]:
        raise Failure(f"expected one series per collector, found {series}")


def run(binary, directory):
    fleet = Fleet(binary, directory, interval="1s")
    try:
        fleet.start()
        until("the totals are recorded at 0", lambda: set(FAMILIES) <= recorded(fleet.prometheus).keys())
        senders = Senders(fleet)
        with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
            running = [pool.submit(senders.run, number) for number in range(SENDERS)]
            try:
                disturb(fleet, senders)
            except BaseException:
                senders.deadline = 0
                senders.go_on.set()
                raise
            for one in running:
                one.result()
        if senders.faults:
            raise Failure("; ".join(senders.faults))
        check_totals(fleet, senders)
        return senders
    finally:
        fleet.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    binary = pathlib.Path(parser.parse_args().binary).resolve()
    with tempfile.TemporaryDirectory(prefix="dnp-fleet-") as directory:
        try:
            senders = run(binary, pathlib.Path(directory))
        except Failure as failure:
            sys.exit(f"deploy/checks/fleet.py: {failure}")
    attempts = ", ".join(f"{count} {status or 'closed'}" for status, count in sorted(senders.attempts.items()))
    print(
        f"fleet: {sum(senders.sent.values())} events of {INSTALLATIONS} installations counted once each; one of three "
        f"collectors killed, one moved (responses: {attempts})"
    )


if __name__ == "__main__":
    main()
