#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the service writes to a real journald reaches rsyslog's JSON files.

The files of deploy/rsyslog run as they are, but for directories, the remote's address and its intervals, between a
journald of our own and a second rsyslogd. On the way the first one is stopped and started again three times, once amid
a flood of more entries than imjournal takes by default, and the remote is away for that flood. Then each event must be
in the file here once, and in that of the remote at least once. With --alone rsyslogd has the configuration of its own
and a checkpoint at each entry, its queue for the remote is full before the flood is over, so that reading waits, and it
is killed each time, and once more when the remote has nearly all or gets nothing more: then nothing may be missing, and
not much come again. At the end logrotate takes the files away.
"""

import argparse
import collections
import json
import os
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
from processes import Failure, Process, Service, until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "deploy" / "rsyslog"
LOGS = pathlib.Path("/var/log")
HERE, THERE, REST = (LOGS / "dnp-telemetry" / "events.json", LOGS / "dnp-telemetry" / "received.json", LOGS / "rest")
FLOOD, PARTS = 22_000, 11
FLOOD_ALONE = 5_500
# The queue for the remote is full then, before half of the flood.
FULL_ALONE = 1_500
# PersistStateInterval: so many entries may come again after a kill.
REPEATED = 100
# RELP sends again what was under way when a connection ended: at most a window for each of them here.
STOPS, STOPS_ALONE, WINDOW = 3, 4, 128
# Seconds.
STILL = 10
ROTATED = 10
OURS = "SYSLOG_IDENTIFIER=dnp-telemetry"


def check_configurations(directory):
    """rsyslogd -N1 has nothing to say about our files with Debian's own, together and the receiver's alone."""
    debian = pathlib.Path("/usr/share/rsyslog/rsyslog.conf")
    main = (debian if debian.exists() else pathlib.Path("/etc/rsyslog.conf")).read_text()
    own = alone(directory, f'include(file="{SHIPPED}/[12]*.conf")')
    for files in ("[1-3]*.conf", "receiver.conf", "alone.conf"):
        with_ours, count = re.subn(r"(?m)^\$IncludeConfig .*$", f'include(file="{SHIPPED}/{files}")', main)
        if count != 1:
            raise Failure("Debian's rsyslog.conf does not include /etc/rsyslog.d in one place")
        path = directory / "check.conf"
        path.write_text(own if files == "alone.conf" else with_ours)
        done = subprocess.run([rsyslogd(), "-N1", "-f", path], capture_output=True, text=True)
        usual = r"rsyslogd: (version \S+, config validation run .*|End of config validation run\. Bye\.)"
        if done.returncode != 0 or not all(re.fullmatch(usual, line) for line in done.stderr.splitlines()):
            raise Failure(f"rsyslogd -N1 of {files}: {done.stderr}")


def rsyslogd():
    return shutil.which("rsyslogd", path="/usr/sbin:/usr/local/sbin:/usr/bin") or "rsyslogd"


def alone(work, included):
    """The configuration of a rsyslogd of its own, with other directories."""
    text, works = re.subn(r"/var/lib/dnp-telemetry-rsyslog", str(work), (SHIPPED / "alone.conf").read_text())
    text, includes = re.subn(r"(?m)^include\(.*$", lambda _: included, text)
    if (works, includes) != (1, 1):
        raise Failure("alone.conf has not one work directory and one include")
    return text


class Rsyslog:
    """A rsyslogd with these parts of a configuration, which ends by a signal of its own."""

    def __init__(self, directory, name, *parts, ended_by=signal.SIGTERM):
        self.configuration, self.log = directory / f"{name}.conf", directory / f"{name}.log"
        self.ended_by = ended_by
        self.configuration.write_text("\n".join(parts))
        self.command = [rsyslogd(), "-n", "-f", self.configuration, "-i", directory / f"{name}.pid"]
        self.process = None

    def start(self):
        self.process = Process(self.command, self.log)

    def end(self):
        if self.process:
            said = [line for line in self.process.said().splitlines() if not re.match("rsyslogd: (om|im)relp", line)]
            self.process.end(self.ended_by)
            if said:
                raise Failure(f"{self.configuration.name}: {said}")


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def whole(path):
    """The lines of a file, behind those that a rotation took away."""
    return lines(path.with_name(path.name + ".1")) + lines(path)


def forwarding(own):
    text = (SHIPPED / "20-dnp-telemetry-forward.conf").read_text()
    text, count = re.subn(r"\blogs\.example\.com(?=\"\n)", "127.0.0.1", text)
    if count != 1:
        raise Failure("20-dnp-telemetry-forward.conf has not one target logs.example.com")
    if own:
        for name, value in (("checkpointInterval", 1), ("size", FULL_ALONE)):
            text, count = re.subn(rf'queue\.{name}="\d+"', f'queue.{name}="{value}"', text)
            if count != 1:
                raise Failure(f"20-dnp-telemetry-forward.conf has not one queue.{name}")
    return re.sub(r'(action\.resumeInterval(?:Max)?)="\d+"', r'\1="1"', text)


def flood(now, size):
    at = events.stamp(now)
    return [{"event": "prefetch_executed", "scheduleId": f"flood-{number}", "timestamp": at} for number in range(size)]


def numbers(path):
    """The numbers of the entries that a file has."""
    return set(re.findall(r'"DNP_SEQ": *"(\d+)"', path.read_text())) if path.exists() else set()


def has(path, entries):
    """Whether a file has so many different entries, however often."""
    return len(numbers(path)) >= entries


def arrivals(entries):
    """Tells that the remote has so many entries, or got no other for some seconds: rsyslogd may wait for itself then.

    A message whose connection broke is put back into the queue by the thread that empties it, which waits for room where
    the queue is full (qqueue's doEnqSingleObj, 8.2302).
    """
    seen, since = 0, time.monotonic()

    def have_come():
        nonlocal seen, since
        found = len(numbers(THERE))
        if found > seen:
            seen, since = found, time.monotonic()
        return found >= entries or time.monotonic() - since > STILL

    return have_come


def rotate(directory, sender, own):
    """Runs logrotate with the shipped file; systemctl, of which there is none here, is a script that knows our unit."""
    unit = "dnp-telemetry-rsyslog.service" if own else "rsyslog.service"
    programs = directory / "programs"
    programs.mkdir()
    known = f'[ "$*" = "kill -s HUP {unit}" ] && exec kill -s HUP {sender.process.child.pid}'
    # The system's is there too, where ours has a process of its own.
    other = '[ "$*" = "kill -s HUP rsyslog.service" ] && exit'
    (programs / "systemctl").write_text(f"#!/bin/sh\n{known}\n{other}\necho no such unit >&2\nexit 1\n")
    (programs / "systemctl").chmod(0o755)
    # By it rsyslog-rotate knows that systemd runs.
    pathlib.Path("/run/systemd/system").mkdir(exist_ok=True)
    shutil.copyfile(SHIPPED / "logrotate", directory / "logrotate.conf")
    program = shutil.which("logrotate", path="/usr/sbin:/usr/bin") or "logrotate"
    command = [program, "--force", "--state", directory / "logrotate.state", directory / "logrotate.conf"]
    path = f"{programs}:{os.environ['PATH']}"
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path})
    if done.returncode != 0 or done.stderr:
        raise Failure(f"logrotate: {done.returncode} {done.stderr}")


def course(service, sender, receiver, own):
    """The events posted on the way, with the kinds of trouble between them; returns how many were accepted."""
    accepted = service.post(events.batch(time.time()))["accepted"]
    until("the first events are here and there", lambda: len(lines(HERE)) == len(lines(THERE)) == accepted)
    sender.end()
    accepted += service.post(json.dumps(flood(time.time() - 3600, 100)).encode())["accepted"]
    receiver.end()
    sender.start()
    until("what came while rsyslogd was stopped is here", lambda: has(HERE, accepted))
    posted = flood(time.time(), FLOOD_ALONE if own else FLOOD)
    for part in range(PARTS):
        accepted += service.post(json.dumps(posted[part::PARTS]).encode())["accepted"]
        if part == PARTS // 2:
            sender.end()
            sender.start()
    if own:
        until("the queue is full", lambda: has(HERE, FULL_ALONE))
    else:
        until("the flood is here", lambda: has(HERE, accepted))
    sender.end()
    if own and has(HERE, accepted):
        raise Failure(f"all {accepted} entries were read, with room for {FULL_ALONE} in the queue for the remote")
    if not list((sender.configuration.parent / "sender").glob("dnp-telemetry-forward.0*")):
        raise Failure("nothing of the flood waits on the disk for the remote")
    sender.start()
    receiver.start()
    if own:
        until("the flood is there, or nothing more comes", arrivals(accepted))
        sender.end()
        sender.start()
    until("the flood is there", lambda: has(THERE, accepted))
    until("the flood is here", lambda: has(HERE, accepted))
    rotate(sender.configuration.parent, sender, own)
    accepted += service.post(json.dumps(flood(time.time() - 60, ROTATED)).encode())["accepted"]
    until("what came after the rotation is in a new file", lambda: has(HERE, ROTATED))
    return accepted


def judge(where, found, entries, allowed):
    """What is in a file is what is in the journal, field by field, once each but for what is allowed; returns that."""
    counts = collections.Counter(one["DNP_SEQ"] for one in found)
    again, missing = sum(counts.values()) - len(counts), entries.keys() - counts.keys()
    if again > allowed or missing or len(counts) != len(entries):
        raise Failure(f"{where}: {again} entries came again and {len(missing)} of {len(entries)} are missing")
    for one in found:
        wanted = {
            # imjournal keeps the last value of a field that comes several times.
            name: value[-1] if isinstance(value, list) else value
            for name, value in entries[one["DNP_SEQ"]].items()
            if not name.startswith("_") or name in ("_HOSTNAME", "_SOURCE_REALTIME_TIMESTAMP")
        }
        if one != wanted:
            raise Failure(f"{where}: expected {wanted}, found {one}")
    return again


def senders(directory, own):
    """The rsyslogd that reads the journal: the system's with our drop-ins, or one of its own."""
    (directory / "sender").mkdir()
    files = (SHIPPED / "10-dnp-telemetry.conf").read_text() + forwarding(own)
    if own:
        return Rsyslog(directory, "sender", alone(directory / "sender", files), ended_by=signal.SIGKILL)
    # The rest of a system's rules: what they get was not meant for them.
    rest = f'if $programname != "rsyslogd" then action(type="omfile" file="{REST}")\n'
    end = (SHIPPED / "30-dnp-telemetry-end.conf").read_text()
    return Rsyslog(directory, "sender", f'global(workDirectory="{directory}/sender")', files, end, rest)


def run(binary, directory, own):
    check_configurations(directory)
    journal = journals.Journal(directory)
    service = Service(binary, directory / "service", "--journal", "journald")
    sender = senders(directory, own)
    receiver = Rsyslog(directory, "receiver", (SHIPPED / "receiver.conf").read_text())
    try:
        service.start()
        for one in (receiver, sender):
            one.start()
        accepted = course(service, sender, receiver, own)
        subprocess.run(["systemd-cat", "-t", "another", "echo", "a line of another program"], check=True)
        until("journald has the line of another program", lambda: journal.entries("SYSLOG_IDENTIFIER=another"))
        sender.end()
        receiver.end()
        entries = {entry["DNP_SEQ"]: entry for entry in journal.entries(OURS)}
        if len(entries) != accepted:
            raise Failure(f"{accepted} events were accepted, and the journal has {len(entries)}")
        stops = STOPS_ALONE if own else STOPS
        allowed = stops * REPEATED if own else 0
        here = judge(HERE.name, [json.loads(line) for line in whole(HERE)], entries, allowed)
        there = judge(THERE.name, [json.loads(line) for line in whole(THERE)], entries, allowed + stops * WINDOW)
        flooded = collections.Counter(json.loads(entry["MESSAGE"]).get("scheduleId") for entry in entries.values())
        if any(flooded[one["scheduleId"]] < 1 for one in flood(time.time(), FLOOD_ALONE if own else FLOOD)):
            raise Failure("the journal does not have the events that were posted")
        if lines(REST):
            raise Failure(f"the system's own log got {lines(REST)[:3]}")
        agents.compare(list(entries.values()))
        both = "\n".join(whole(HERE)) + "\n"
        command = [binary, "validate", "--format", "json", "-"]
        validate = subprocess.run(command, input=both, capture_output=True, text=True)
        if json.loads(validate.stdout)["lines"]["recognised"] != accepted + here:
            raise Failure(f"dnp-telemetry validate does not read the file: {validate.stdout[-500:]}")
        return accepted, here, there
    finally:
        for process in (sender.process, receiver.process, service.process, journal.process):
            if process:
                process.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    parser.add_argument("--alone", action="store_true", help="the configuration of its own, killed instead of stopped")
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.binary).resolve()
    journals.enter("deploy/checks/rsyslog.py")
    with tempfile.TemporaryDirectory(prefix="dnp-rsyslog-") as directory:
        try:
            accepted, here, there = run(binary, pathlib.Path(directory), arguments.alone)
        except Failure as failure:
            sys.exit(f"deploy/checks/rsyslog.py: {failure}")
    ended = f"killed {STOPS_ALONE}" if arguments.alone else f"stopped {STOPS}"
    print(f"rsyslog, {ended} times: {accepted} events here ({here} again), and at the remote ({there} again)")


if __name__ == "__main__":
    main()
