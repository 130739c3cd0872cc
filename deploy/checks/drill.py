#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the alert drill of docs/alert-drill.md: a fleet that was force-quit fires DnpWindowsMissed, and nothing else.

A real service, a real Prometheus with the shipped configuration and rules, and a real Alertmanager with the shipped
routes. Shortened are the intervals (to 1 s), the `for` of the alerts on devices (15 and 60 minutes to 2 s) and the waits
of the routes; cycles close without waiting because the service restarts with a later clock.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import alertmanager  # noqa: E402
import live  # noqa: E402
from processes import Failure, Process, Prometheus, Service, answers, free_port, later_clock, until  # noqa: E402

ALERT = "DnpWindowsMissed"
DEVICES, DAYS = 500, 2
FLEET = ["--scenario", "force-quit", "--devices", DEVICES, "--days", DAYS, "--seed", 1]


def simulate(binary, *options):
    command = [str(word) for word in (binary, "simulate", *FLEET, *options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def configuration(directory, service, manager):
    """The shipped configuration with its block `alerting`, and the shipped rules with a short `for`."""
    path = live.configuration(directory, [service])
    text = path.read_text()
    block = "".join(line[2:] for line in text.splitlines(keepends=True) if line.startswith("# alerting:") or line.startswith("#   "))
    path.write_text(text + block.replace("127.0.0.1:9093", manager))
    if f'"{manager}"' not in path.read_text():
        raise Failure("prometheus.yml has no block for an Alertmanager at 127.0.0.1:9093")
    rules = directory / "rules" / "alerts-lifecycle.yml"
    rules.write_text(re.sub(r"(?m)^(        for): \S+$", r"\1: 2s", rules.read_text()))
    return path


def start_alertmanager(directory, webhook, address):
    process = Process(
        [
            shutil.which("prometheus-alertmanager") or "prometheus-alertmanager",
            f"--config.file={alertmanager.configuration(directory, f'http://127.0.0.1:{webhook.server_port}/')}",
            f"--storage.path={directory / 'alertmanager'}",
            f"--web.listen-address={address}",
            "--cluster.listen-address=",
        ],
        directory / "alertmanager.log",
    )
    until("Alertmanager is ready", lambda: process.output() is not None and answers(f"http://{address}/-/ready"))
    return process


def of_devices(prometheus, state):
    """The alerts on devices in this state."""
    firing = prometheus.query(f'ALERTS{{alertstate="{state}", instance=""}}')
    return {labels["alertname"] for labels, _ in firing}


def drill(binary, directory, service, prometheus, webhook):
    total = "instance:dnp_prefetch_sequence_violations:total"
    until("the totals are recorded at 0", lambda: prometheus.query(total))
    sent = simulate(binary, "--to", service.base, "--verify", service.base)
    scheduled = f"sum(dnp_prefetch_scheduled_total) >= {DEVICES * DAYS}"
    until("the fleet is scraped", lambda: prometheus.query(scheduled))
    service.process.end()
    service.start(later_clock(directory, 3600))
    until(f"{ALERT} fires", lambda: ALERT in of_devices(prometheus, "firing"))
    judged = simulate(binary, "--verify", service.base, "--verify-within", "30s")
    others = (of_devices(prometheus, "firing") | of_devices(prometheus, "pending")) - {ALERT}
    if others:
        raise Failure(f"alerts on devices that the fleet gives no reason for: {sorted(others)}")
    ours = ["dnp-warning", ALERT, ""]
    until("the receiver of warnings has the alert", lambda: ours in webhook.of("firing"))
    return sent.splitlines()[0], judged.splitlines()[-1]


def run(binary, directory):
    service = Service(binary, directory / "service", "--journal", "off")
    webhook = alertmanager.Webhook()
    running = []
    try:
        service.start()
        address = f"127.0.0.1:{free_port()}"
        running.append(start_alertmanager(directory, webhook, address))
        prometheus = Prometheus(configuration(directory, service, address), directory)
        running.append(prometheus.process)
        sent, judged = drill(binary, directory, service, prometheus, webhook)
    finally:
        for process in running + [service.process]:
            if process:
                process.end()
        webhook.shutdown()
    print(f"drill: {DEVICES} devices that were force-quit ({sent}; {judged}) fired {ALERT}, which reached dnp-warning")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    binary = pathlib.Path(parser.parse_args().binary).resolve()
    with tempfile.TemporaryDirectory(prefix="dnp-drill-") as directory:
        try:
            run(binary, pathlib.Path(directory))
        except Failure as failure:
            sys.exit(f"deploy/checks/drill.py: {failure}")


if __name__ == "__main__":
    main()
