#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a real Prometheus scraped from a real service is in a real InfluxDB, also after an outage of InfluxDB.

deploy/influx runs as it is shipped, except for directories, addresses and Prometheus's intervals. Nobody gets in without
a password, and each user can do only what it is for. Every sample of the lifecycle's five families that Prometheus has
must be in InfluxDB with the same time and value, and the shipped queries must return the totals of the metrics page.
"""

import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import events  # noqa: E402
from processes import Failure, Process, Prometheus, Service, answers, fetch, free_port, until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deploy" / "influx"
DATABASE = "dnp_telemetry"
FAMILIES = (
    "dnp_prefetch_scheduled_total",
    "dnp_prefetch_executed_total",
    "dnp_prefetch_success_total",
    "dnp_prefetch_failure_total",
    "dnp_prefetch_used_for_notification_total",
)
TAGS = ("job", "instance", "reason")
# A setting that Debian's InfluxDB has under another name, with the safe default.
UPSTREAM = ("reporting-disabled", "")


def program(name):
    return shutil.which(name) or name


class InfluxDB:
    """influxd with the shipped configuration; a restart keeps port and data."""

    def __init__(self, directory):
        self.directory, self.port = directory, free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        text = (SHIPPED / "influxdb.conf").read_text()
        known = keys(subprocess.run([program("influxd"), "config"], capture_output=True, text=True, check=True).stdout)
        if unknown := keys(text) - known - {UPSTREAM}:
            raise Failure(f"influxdb.conf has settings that influxd does not know: {sorted(unknown)}")
        text = text.replace("/var/lib/influxdb", str(directory / "influxdb"))
        for port, other in ((8086, self.port), (8088, free_port())):
            text, count = re.subn(rf'"127\.0\.0\.1:{port}"', f'"127.0.0.1:{other}"', text)
            if count != 1:
                raise Failure(f"influxdb.conf does not listen on 127.0.0.1:{port} exactly once")
        self.configuration = directory / "influxdb.conf"
        self.configuration.write_text(text)
        self.process = None

    def start(self):
        command = [program("influxd"), "-config", self.configuration]
        self.process = Process(command, self.directory / "influxdb.log")

    def wait(self):
        until("InfluxDB is ready", lambda: self.process.output() is not None and answers(f"{self.base}/ping"))

    def set_up(self):
        """Runs the shipped script twice: the first time it waits for InfluxDB, the second time it changes nothing."""
        for _ in range(2):
            command = ["bash", SHIPPED / "setup", self.directory / "passwords"]
            environment = {"PATH": "/usr/bin:/bin", "INFLUXDB_URL": self.base}
            done = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                raise Failure(f"setup: {done.stdout}{done.stderr}")
        modes = {oct(path.stat().st_mode & 0o777) for path in (self.directory / "passwords").iterdir()}
        if modes != {"0o600"}:
            raise Failure(f"setup: the passwords have the modes {sorted(modes)}")

    def password(self, user):
        return (self.directory / "passwords" / user).read_text().strip()

    def ask(self, user, path, body=None, **parameters):
        """Status and body of a request, without a password if the user is None."""
        request = urllib.request.Request(f"{self.base}{path}?{urllib.parse.urlencode(parameters)}", data=body)
        if user:
            secret = base64.b64encode(f"{user}:{self.password(user)}".encode()).decode()
            request.add_header("Authorization", f"Basic {secret}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def query(self, statement):
        """The series of a statement as (measurement, tags, columns, values), asked as the user grafana."""
        status, body = self.ask("grafana", "/query", db=DATABASE, epoch="ms", q=statement)
        result = json.loads(body).get("results", [{}])[0] if status == 200 else {"error": body}
        if "error" in result:
            raise Failure(f"{statement}: {result['error']}")
        return [(one["name"], one.get("tags", {}), one["columns"], one["values"]) for one in result.get("series", [])]


def keys(text):
    """The settings of a configuration as (section, name)."""
    made = tomllib.loads(re.sub(r"(?m)^( *[\w-]+ = )(\d+[a-z]\w*)$", r'\1"\2"', text))
    return {(section, name) for section, inner in made.items() for name in (inner if isinstance(inner, dict) else [""])}


def check_access(influx):
    """The users can do only what they are for; the statements that they must not run change nothing."""
    everything, point = "SHOW MEASUREMENTS", b"intruder value=1"
    found = {
        "a query without a password": influx.ask(None, "/query", db=DATABASE, q=everything)[0],
        "a first admin without a password": influx.ask(
            None, "/query", b"", q="CREATE USER intruder WITH PASSWORD 'x' WITH ALL PRIVILEGES"
        )[0],
        "a write without a password": influx.ask(None, "/write", point, db=DATABASE)[0],
        "a write of grafana": influx.ask("grafana", "/write", point, db=DATABASE)[0],
        "a query of prometheus": influx.ask("prometheus", "/query", db=DATABASE, q=everything)[0],
        "a new user by prometheus": influx.ask("prometheus", "/query", b"", q="CREATE USER intruder WITH PASSWORD 'x'")[0],
        "a dropped database by grafana": influx.ask("grafana", "/query", b"", q=f"DROP DATABASE {DATABASE}")[0],
        "profiles": influx.ask(None, "/debug/pprof/")[0],
    }
    if allowed := {what: status for what, status in found.items() if status not in (401, 403, 404)}:
        raise Failure(f"InfluxDB allows {allowed}")
    _, users = influx.ask("admin", "/query", q="SHOW USERS")
    if re.findall(r'\["(\w+)",(true|false)\]', users) != [("admin", "true"), ("prometheus", "false"), ("grafana", "false")]:
        raise Failure(f"expected the users admin, prometheus and grafana, found {users}")
    # The whole of 127.0.0.0/8 is this machine's, so this is an address that InfluxDB must not listen on.
    if answers(f"http://127.0.0.2:{influx.port}/ping"):
        raise Failure("InfluxDB listens on more than 127.0.0.1")


def configuration(directory, service, influx):
    """The shipped scrape configuration with the shipped remote write, as the documents put them together."""
    text = (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text() + (SHIPPED / "remote-write.yml").read_text()
    for address, other in ((r'"127\.0\.0\.1:10910"', f'"{service.instance}"'), (r"127\.0\.0\.1:8086", f"127.0.0.1:{influx.port}")):
        text, count = re.subn(address, other, text)
        if count != 1:
            raise Failure(f"the configuration of Prometheus does not have {address} exactly once")
    text = re.sub(r"(?m)^(  (?:scrape_interval|scrape_timeout)): .*$", r"\1: 1s", text)
    (directory / "prometheus.yml").write_text(text)
    shutil.copy(directory / "passwords" / "prometheus", directory / "influxdb-password")
    command = [program("promtool"), "check", "config", directory / "prometheus.yml"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"promtool check config: {done.stdout}{done.stderr}")
    return directory / "prometheus.yml"


def page(service):
    """The totals of the five families on the metrics page, by name and reason."""
    found = re.findall(r'(?m)^(\w+)(?:\{reason="(\w+)"\})? ([\d.e+]+)$', fetch(f"{service.base}/metrics"))
    return {(name, reason): float(value) for name, reason, value in found if name in FAMILIES}


def scraped(prometheus):
    """Every sample of the five families in Prometheus: (name, tags) to {time in ms: value}."""
    found = {}
    for name in FAMILIES:
        for one in prometheus.ask("query", query=f"{name}[1h]")["result"]:
            key = name, tuple(one["metric"].get(tag, "") for tag in TAGS)
            found[key] = {round(at * 1000): float(value) for at, value in one["values"]}
    return found


def stored(influx):
    """The same in InfluxDB."""
    found = {}
    for name, tags, _, values in influx.query(f'SELECT "value" FROM {", ".join(FAMILIES)} GROUP BY {", ".join(TAGS)}'):
        found[name, tuple(tags.get(tag, "") for tag in TAGS)] = {at: float(value) for at, value in values}
    return found


def wait_for_samples(prometheus, influx):
    """Every sample that Prometheus has now gets into InfluxDB."""
    wanted = scraped(prometheus)

    def there():
        found = stored(influx)
        return all(samples.items() <= found.get(key, {}).items() for key, samples in wanted.items())

    until("InfluxDB has every sample that Prometheus has", there)
    return sum(len(samples) for samples in wanted.values())


def count(service, prometheus, body):
    """Posts events, and waits until Prometheus has scraped the totals that follow."""
    service.post(body)
    expected = page(service)

    def scraped_totals():
        last = {(name, tags[2]): samples[max(samples)] for (name, tags), samples in scraped(prometheus).items()}
        return last == expected

    until("Prometheus has scraped the totals", scraped_totals)


def check_queries(influx, service):
    """The shipped queries return the totals of the page, and the successes as the sum of their differences."""
    statements = re.findall(r"(?m)^SELECT .*", (SHIPPED / "queries.influxql").read_text())
    totals, succeeded = {}, 0
    for statement in statements:
        series = influx.query(statement)
        if not series or any(tags.get("instance") != service.instance for _, tags, _, _ in series):
            raise Failure(f"{statement}: expected series of {service.instance}, found {series}")
        for name, tags, columns, values in series:
            if columns == ["time", "succeeded"]:
                succeeded += sum(value for _, value in values)
            else:
                totals[name, tags.get("reason", "")] = float(values[-1][1])
    expected = page(service)
    if totals != expected or succeeded != expected["dnp_prefetch_success_total", ""]:
        raise Failure(f"queries.influxql: the page has {expected}, InfluxDB {totals} and {succeeded} successes")
    return len(statements)


def measured(influx):
    """The names of all measurements."""
    return {name for _, _, _, values in influx.query("SHOW MEASUREMENTS") for [name] in values}


def check_documented_metrics(prometheus):
    """The metrics of Prometheus about its remote write, which docs/pipeline.md names, are on its page."""
    named = set(re.findall(r"\bprometheus_\w+", (ROOT / "docs" / "pipeline.md").read_text()))
    found = set(re.findall(r"(?m)^(prometheus_\w+)", fetch(f"{prometheus.base}/metrics")))
    if not named or named - found:
        raise Failure(f"docs/pipeline.md names metrics that Prometheus does not have: {sorted(named - found)}")


def run(binary, directory):
    influx, service = InfluxDB(directory), Service(binary, directory / "service", "--journal", "off")
    prometheus = None
    try:
        service.start()
        influx.start()
        influx.set_up()
        check_access(influx)
        prometheus = Prometheus(configuration(directory, service, influx), directory)
        until("the zeros are scraped", lambda: set(FAMILIES) <= {name for name, _ in scraped(prometheus)})
        count(service, prometheus, events.batch(time.time()))
        before = wait_for_samples(prometheus, influx)
        influx.process.end()
        more = [{"event": "prefetch_executed", "scheduleId": f"later-{number}"} for number in range(10)]
        at = events.stamp(time.time() - 60)
        count(service, prometheus, json.dumps([{**one, "timestamp": at} for one in more]).encode())
        influx.start()
        influx.wait()
        after = wait_for_samples(prometheus, influx)
        queries = check_queries(influx, service)
        check_documented_metrics(prometheus)
        until("InfluxDB has the background refresh", lambda: "aiq_background_refresh_runs_total" in measured(influx))
        if others := {name for name in measured(influx) if not re.fullmatch(r"(dnp|aiq)_\w+|up", name)}:
            raise Failure(f"InfluxDB has measurements that nobody asked for: {sorted(others)}")
        return before, after, queries
    finally:
        for process in (prometheus and prometheus.process, service.process, influx.process):
            if process:
                process.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    binary = pathlib.Path(parser.parse_args().binary).resolve()
    with tempfile.TemporaryDirectory(prefix="dnp-influx-") as directory:
        try:
            before, after, queries = run(binary, pathlib.Path(directory))
        except Failure as failure:
            sys.exit(f"deploy/checks/influx.py: {failure}")
    print(f"influx: {after} samples as scraped, {after - before} of them after an outage; {queries} queries answer")


if __name__ == "__main__":
    main()
