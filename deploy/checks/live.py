#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every shipped expression in a real Prometheus that scraped two real services.

One service has labels, a journal on standard output and a followed file, the other a web configuration without
requirements. Every panel query must return data for each service and for both, every rule must be healthy, every
recorded series must exist, every metric must be on a page, and exactly the expected alerts must be pending or firing.
"""

import argparse
import http.server
import math
import pathlib
import re
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import events  # noqa: E402
from expressions import chosen, names, of_dashboard  # noqa: E402
from processes import Failure, Prometheus, Service, fetch, later_clock, until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "Tests" / "IntegrationTests" / "Fixtures" / "logs"
OF_PROMETHEUS = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS"}
# Alerts that the data of events.py makes pending or firing.
ACTIVE = {
    "DnpAuthFailuresRising", "DnpDriftExceeded", "DnpIntegrityMismatch", "DnpRefreshNotifiedTooSoon", "DnpSuccessBurnSlow",
}


def configuration(directory, services):
    """The shipped configuration and rules, with these targets and intervals of 1 s."""
    shipped = ROOT / "deploy" / "prometheus"
    text = (shipped / "prometheus.yml").read_text()
    targets = ", ".join(f'"{service.instance}"' for service in services)
    text, count = re.subn(r'"127\.0\.0\.1:10910"', targets, text)
    if count != 1:
        raise Failure("prometheus.yml does not have exactly one target 127.0.0.1:10910")
    text = re.sub(r"(?m)^(  (?:scrape_interval|scrape_timeout|evaluation_interval)): .*$", r"\1: 1s", text)
    (directory / "prometheus.yml").write_text(text)
    (directory / "rules").mkdir()
    for rules in (shipped / "rules").glob("*.yml"):
        (directory / "rules" / rules.name).write_text(re.sub(r"(?m)^(    interval): 1m$", r"\1: 1s", rules.read_text()))
    return directory / "prometheus.yml"


def feed(service):
    body = events.batch(time.time())
    accepted = service.post(body)["accepted"]
    if service.post(body)["duplicates"] != accepted:
        raise Failure("the second request with the same body was not a duplicate")
    service.post((LOGS / "auth-failure.log").read_bytes(), "text/plain")
    service.post(b"[DNP-FETCH] not matched by any rule\n", "text/plain")


def fill(prometheus, services, followed, clocks):
    """Lets Prometheus scrape zeros, then events, then restarts that close all cycles and runs.

    A clock more than a day behind the last row of the ledger would be doubted, so that it closes no cycle for a while.
    """
    until(
        "the totals are recorded at 0",
        lambda: len(prometheus.query("instance:dnp_lifecycle:increase7d")) == 8 * len(services),
    )
    until(
        "the totals of the background refresh are recorded at 0",
        lambda: len(prometheus.query("instance:aiq_background_refresh_runs:total")) == 5 * len(services),
    )
    for service in services:
        feed(service)
    followed.write_bytes((LOGS / "happy-stamped.log").read_bytes())
    expected = events.CYCLES * len(services)
    executed = 'sum(dnp_prefetch_executed_total{job="dnp-telemetry"}) >= '
    until("the events are scraped", lambda: prometheus.query(executed + str(expected)))
    for clock in clocks:
        for service in services:
            service.process.end()
            service.start(clock)
        some = 'count(sum by (instance) (dnp_prefetch_cycles_total{job="dnp-telemetry"}) > 0)'
        until(
            "some cycles are closed",
            lambda: [value for _, value in prometheus.query(some)] == [len(services)],
        )
    closed = 'sum(instance:dnp_prefetch_cycles:increase1d{job="dnp-telemetry"}) >= '
    until("the cycles are closed and counted", lambda: prometheus.query(closed + str(expected)))
    ended = f"sum(job:aiq_background_refresh_runs:increase1d) >= {events.RUNS * len(services)}"
    until("the runs are closed and counted", lambda: prometheus.query(ended))
    until(
        "the expected alerts are pending or firing",
        lambda: ACTIVE <= {labels["alertname"] for labels, _ in prometheus.query("ALERTS")},
    )


def answer(prometheus, where, expression, wanted=True):
    """Faults in the result of a query."""
    try:
        values = [value for _, value in prometheus.query(expression)]
    except Failure as failure:
        return [f"{where}: {failure}"]
    if not wanted or any(math.isfinite(value) for value in values):
        return []
    return [f"{where}: {'only NaN' if values else 'no data'}: {expression}"]


def unknown(where, named, everything):
    return [f"{where}: unknown metric {name}" for name in sorted(named - everything)]


def check_dashboards(prometheus, pages, common):
    everything = common.union(*pages.values())
    faults, asked = [], 0
    for path in sorted((ROOT / "dashboards").glob("*.json")):
        for where, expression, wanted in of_dashboard(path):
            named = names(expression, everything)
            faults += unknown(where, named, everything)
            for instance, page in {".*": everything, **pages}.items():
                if named <= page | common:
                    faults += answer(prometheus, f"{where}, {instance}", chosen(expression, instance=instance), wanted)
                    asked += 1
    return faults, asked


def check_rules(prometheus, rules, everything):
    faults, active = [], set()
    for rule in rules:
        where = f"rule {rule['name']}"
        if rule["health"] != "ok":
            faults.append(f"{where} is {rule['health']}: {rule.get('lastError', '')}")
        faults += unknown(where, names(rule["query"], everything), everything)
        faults += answer(prometheus, where, rule["query"], wanted=rule["type"] == "recording")
        if rule["type"] == "recording":
            values = [value for _, value in prometheus.query(rule["name"])]
            if not values or any(math.isnan(value) for value in values):
                faults.append(f"{where} recorded {'NaN' if values else 'nothing'}")
        elif rule["state"] != "inactive":
            active.add(rule["name"])
    faults += [f"alert {name} is unexpectedly pending or firing" for name in sorted(active - ACTIVE)]
    faults += [f"alert {name} is inactive" for name in sorted(ACTIVE - active)]
    return faults


def rules_after_restarts(prometheus):
    """All rules, once none was evaluated while a service restarted."""
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    is_down = any(rule["name"] == "DnpTargetDown" and rule["state"] != "inactive" for rule in rules)
    return None if is_down else rules


class Destination(http.server.BaseHTTPRequestHandler):
    """Takes whatever is exported."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def destination():
    """The address of a destination, which ends with this process."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Destination)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def run(binary, directory):
    followed, web, credentials = directory / "device.log", directory / "web.config.yml", directory / "credentials"
    web.write_text("{}\n")
    credentials.mkdir()
    # Credentials without a token: requests need none.
    environment = {"CREDENTIALS_DIRECTORY": str(credentials)}
    services = [
        Service(
            binary, directory / "labelled", "--label", "platform", "--label", "app_version", "--journal", "stdout",
            "--follow", followed, "--export", f"otlp {destination()} interval=1s",
        ),
        Service(binary, directory / "plain", "--journal", "off", "--web-config", web),
    ]
    running = []
    try:
        for service in services:
            service.start(environment)
        prometheus = Prometheus(configuration(directory, services), directory)
        running.append(prometheus.process)
        clocks = [environment | later_clock(directory, hours * 3600) for hours in (20, 40)]
        fill(prometheus, services, followed, clocks)
        rules = until("the alerts know that both services are up again", lambda: rules_after_restarts(prometheus))
        common = {rule["name"] for rule in rules if rule["type"] == "recording"} | OF_PROMETHEUS
        pages = {service.instance: service.families() for service in services}
        faults, count = check_dashboards(prometheus, pages, common)
        faults += check_rules(prometheus, rules, common.union(*pages.values()))
        for fault in faults:
            print(fault, file=sys.stderr)
        print(f"expressions: {len(rules)} rules and {count} panel queries ran in a Prometheus with real data")
        return 1 if faults else 0
    finally:
        for process in running + [service.process for service in services if service.process]:
            process.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    binary = pathlib.Path(parser.parse_args().binary).resolve()
    with tempfile.TemporaryDirectory(prefix="dnp-check-") as directory:
        try:
            sys.exit(run(binary, pathlib.Path(directory)))
        except Failure as failure:
            sys.exit(f"deploy/checks/live.py: {failure}")


if __name__ == "__main__":
    main()
