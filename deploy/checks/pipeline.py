#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events that structlog sends through rsyslog into the journal count as they do over HTTP, once each.

The files of deploy/structlog run unchanged in a real rsyslogd with a private journald; a service follows the journal. In
between rsyslogd is restarted and the service killed, and everything is sent again. Then all totals must be those of a
service that got the same events over HTTP, and each event must have its entry in the journal.
"""

import argparse
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import agents  # noqa: E402
import events  # noqa: E402
import journals  # noqa: E402
from processes import Failure, Service, fetch, until  # noqa: E402
from rsyslog import OURS, Rsyslog, rsyslogd  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deploy" / "structlog"
FIXTURES = ROOT / "Tests" / "IntegrationTests" / "Fixtures"
DOCUMENTED, LOG = FIXTURES / "events" / "documented.ndjson", FIXTURES / "logs" / "happy-bare.log"
SOCKET = pathlib.Path("/run/dnp-structlog.sock")
IDENTIFIER = "SYSLOG_IDENTIFIER=dnp-structlog"
# Logs each line of its input: a string as it is, an object as an event.
SENDER = """
import json, logging, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import dnp_structlog
log, logger = dnp_structlog.configure(), logging.getLogger("dnp")
for line in sys.stdin:
    said = json.loads(line)
    if isinstance(said, str):
        logger.info(said)
    else:
        log.info(said.pop("event"), **said)
    print(flush=True)
"""


class Sender:
    """A program that logs with deploy/structlog, as Debian's Python runs it."""

    def __init__(self):
        python = shutil.which("python3", path="/usr/bin") or "python3"
        self.child = subprocess.Popen(
            [python, "-c", SENDER, SHIPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def log(self, said):
        for one in said:
            try:
                print(json.dumps(one), file=self.child.stdin, flush=True)
                answered = self.child.stdout.readline()
            except BrokenPipeError:
                answered = ""
            if not answered:
                raise Failure(f"structlog (apt-get install python3-structlog): {self.child.communicate()[1]}")

    def end(self):
        if self.child.poll() is None:
            _, errors = self.child.communicate(timeout=20)
            if errors:
                raise Failure(f"the sender said: {errors}")


def check_configuration(directory):
    """rsyslogd accepts the file without a message in Debian's configuration, alone and with those of deploy/rsyslog."""
    debian = pathlib.Path("/usr/share/rsyslog/rsyslog.conf")
    main = (debian if debian.exists() else pathlib.Path("/etc/rsyslog.conf")).read_text()
    ours, theirs = f'include(file="{SHIPPED}/*.conf")', f'include(file="{ROOT}/deploy/rsyslog/[1-3]*.conf")'
    for included in (ours, f"{theirs}\n{ours}"):
        path = directory / "check.conf"
        path.write_text(re.sub(r"(?m)^\$IncludeConfig .*$", included, main))
        done = subprocess.run([rsyslogd(), "-N1", "-f", path], capture_output=True, text=True)
        usual = r"rsyslogd: (version \S+, config validation run .*|End of config validation run\. Bye\.)"
        if done.returncode != 0 or not all(re.fullmatch(usual, line) for line in done.stderr.splitlines()):
            raise Failure(f"rsyslogd -N1: {done.stderr}")


def totals(service):
    """What a page counts of devices, and of the events themselves, by name and labels."""
    wanted = "|".join((
        r"dnp_(?:prefetch|notification|content|plugin|integrity)_\w+_total",
        r"aiq_background_refresh_(?:checks|notifications|schedules|skipped)_total",
        r"dnp_telemetry_events_(?:accepted|rejected)_total",
    ))
    text = fetch(f"{service.base}/metrics")
    return {
        (name, labels): float(value)
        for name, labels, value in re.findall(rf"(?m)^({wanted})(\{{[^}}]*\}})? ([\d.e+]+)$", text)
    }


def counted(service, name):
    return sum(value for (one, _), value in totals(service).items() if one == name)


def duplicates(service):
    return float(re.search(r"(?m)^dnp_telemetry_events_duplicate_total (\S+)$", fetch(f"{service.base}/metrics")).group(1))


def run(binary, directory):
    check_configuration(directory)
    journal = journals.Journal(directory)
    follow = ("--journal", "journald", "--follow-journal", IDENTIFIER)
    service = Service(binary, directory / "followed", *follow)
    posted = Service(binary, directory / "posted", "--journal", "off")
    main = f'global(workDirectory="{directory}")\nmodule(load="imuxsock" SysSock.Use="off")'
    syslog = Rsyslog(directory, "rsyslog", main, (SHIPPED / "50-dnp-telemetry-structlog.conf").read_text())
    sender = None
    try:
        for one in (service, posted, syslog):
            one.start()
        until("rsyslogd has its socket", lambda: syslog.process.output() is not None and SOCKET.is_socket())
        said = json.loads(events.batch(time.time()))["events"]
        said += [json.loads(line) for line in DOCUMENTED.read_text().splitlines()]
        # What names no installation is of one device, as from one program's journal.
        device = {"X-Installation-Id": "program"}
        posted.post(json.dumps(said).encode(), headers=device)
        posted.post(LOG.read_bytes(), "text/plain", device)
        expected = totals(posted)
        accepted, half = counted(posted, "dnp_telemetry_events_accepted_total"), len(said) // 2
        sender = Sender()
        sender.log(said[:half])
        until("the journal has the first half", lambda: len(journal.entries(IDENTIFIER)) == half)
        syslog.end()
        syslog.start()
        until("rsyslogd has its socket again", lambda: syslog.process.output() is not None and SOCKET.is_socket())
        # The handler meets the broken connection here and connects again.
        sender.log(said[half:])
        service.process.end(signal.SIGKILL)
        sender.log(LOG.read_text().splitlines())
        service.start()

        def everything_counted():
            return counted(service, "dnp_telemetry_events_accepted_total") >= accepted

        until("the service has read the journal", everything_counted)
        until("the rejected event is counted", lambda: totals(service).keys() >= expected.keys())
        if found := {key: (value, totals(service).get(key)) for key, value in expected.items() if totals(service).get(key) != value}:
            raise Failure(f"expected what was posted, found what was followed otherwise: {found}")
        sender.log(said)
        until("everything sent again is a duplicate", lambda: duplicates(service) >= len(said) - 1)
        if totals(service)["dnp_telemetry_events_accepted_total", ""] != accepted:
            raise Failure("events that were sent again were accepted again")
        until("each event has its entry", lambda: len(journal.entries(OURS)) >= accepted)
        entries = journal.entries(OURS)
        if len(entries) != accepted:
            raise Failure(f"{accepted} events were accepted, and the journal has {len(entries)} entries of them")
        agents.compare(entries)
        sender.end()
        syslog.end()
        return int(accepted)
    finally:
        if sender and sender.child.poll() is None:
            sender.child.kill()
        for process in (syslog.process, service.process, posted.process, journal.process):
            if process:
                process.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    binary = pathlib.Path(parser.parse_args().binary).resolve()
    journals.enter("deploy/checks/pipeline.py")
    with tempfile.TemporaryDirectory(prefix="dnp-pipeline-", dir=journals.PRIVATE[0]) as directory:
        try:
            accepted = run(binary, pathlib.Path(directory))
        except Failure as failure:
            sys.exit(f"deploy/checks/pipeline.py: {failure}")
    print(f"structlog, rsyslog, journal: {accepted} events counted once each, as over HTTP")


if __name__ == "__main__":
    main()
