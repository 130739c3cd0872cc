#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Entries that the service writes to a real journald reach rsyslog's JSON files.

The files of deploy/rsyslog run unchanged, except for directories, the remote's address and its intervals, between a
private journald and a second rsyslogd. The first rsyslogd is stopped and restarted three times, once during a flood of
more entries than imjournal's default rate limit allows, and the remote is down during that flood. Then each event must
be in the local file once, and in the remote's at least once.

With --alone rsyslogd runs with alone.conf and a checkpoint at each entry. Its queue for the remote fills up during the
flood, so reading blocks, and rsyslogd is killed instead of stopped, and once more when the remote has nearly everything
or gets nothing more: no entry may be missing, and only a bounded number may be repeated. At the end logrotate rotates
the files.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import socket
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
# Size of the queue for the remote: less than half of the flood.
FULL_ALONE = 1_500
# PersistStateInterval: at most this many entries repeat after a kill.
REPEATED = 100
# RELP resends what was in flight when a connection ended: at most one window per stop.
STOPS, STOPS_ALONE, WINDOW = 3, 4, 128
# Seconds without a new entry.
STILL = 10
ROTATED = 10
OURS = "SYSLOG_IDENTIFIER=dnp-telemetry"


def check_configurations(directory):
    """rsyslogd -N1 accepts the files without a message, with Debian's configuration and separately."""
    debian = pathlib.Path("/usr/share/rsyslog/rsyslog.conf")
    main = (debian if debian.exists() else pathlib.Path("/etc/rsyslog.conf")).read_text()
    own = alone(directory, f'include(file="{SHIPPED}/[12]*.conf")')
    for files in ("[1-3]*.conf", "receiver.conf", "alone.conf"):
        with_ours, count = re.subn(r"(?m)^\$IncludeConfig .*$", f'include(file="{SHIPPED}/{files}")', main)
        if count != 1:
            raise Failure("Debian's rsyslog.conf does not include /etc/rsyslog.d exactly once")
        path = directory / "check.conf"
        path.write_text(own if files == "alone.conf" else with_ours)
        done = subprocess.run([rsyslogd(), "-N1", "-f", path], capture_output=True, text=True)
        usual = r"rsyslogd: (version \S+, config validation run .*|End of config validation run\. Bye\.)"
        if done.returncode != 0 or not all(re.fullmatch(usual, line) for line in done.stderr.splitlines()):
            raise Failure(f"rsyslogd -N1 of {files}: {done.stderr}")


def rsyslogd():
    return shutil.which("rsyslogd", path="/usr/sbin:/usr/local/sbin:/usr/bin") or "rsyslogd"


def alone(work, included):
    """alone.conf with other directories."""
    text, works = re.subn(r"/var/lib/dnp-telemetry-rsyslog", str(work), (SHIPPED / "alone.conf").read_text())
    text, includes = re.subn(r"(?m)^include\(.*$", lambda _: included, text)
    if (works, includes) != (1, 1):
        raise Failure("alone.conf does not have exactly one work directory and one include")
    return text


class Rsyslog:
    """A rsyslogd with a configuration from parts, ended by a given signal."""

    def __init__(self, directory, name, *parts, ended_by=signal.SIGTERM):
        self.configuration, self.log = directory / f"{name}.conf", directory / f"{name}.log"
        self.ended_by = ended_by
        self.configuration.write_text("\n".join(parts))
        self.command = [rsyslogd(), "-n", "-f", self.configuration, "-i", directory / f"{name}.pid"]
        self.process = None

    def start(self):
        """Starts rsyslogd and waits until it says that it is ready; before that a SIGHUP of logrotate would end it."""
        path = self.configuration.with_suffix(".ready")
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as told:
            told.bind(str(path))
            self.process = Process(self.command, self.log, {"NOTIFY_SOCKET": str(path)})
            until(f"rsyslogd with {self.configuration.name} is ready", lambda: self.process.output() is not None and ready(told))

    def end(self):
        if self.process:
            said = [line for line in self.process.output().splitlines() if not re.match("rsyslogd: (om|im)relp", line)]
            self.process.end(self.ended_by)
            if said:
                raise Failure(f"{self.configuration.name}: {said}")


def ready(told):
    try:
        return b"READY=1" in told.recv(4096)
    except BlockingIOError:
        return False


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def rotated(path):
    return path.with_name(path.name + ".1")


def whole(path):
    """The lines of the rotated file and of the current one."""
    return lines(rotated(path)) + lines(path)


def forwarding(own):
    text = (SHIPPED / "20-dnp-telemetry-forward.conf").read_text()
    text, count = re.subn(r"\blogs\.example\.com(?=\"\n)", "127.0.0.1", text)
    if count != 1:
        raise Failure("20-dnp-telemetry-forward.conf does not have exactly one target logs.example.com")
    if own:
        for name, value in (("checkpointInterval", 1), ("size", FULL_ALONE)):
            text, count = re.subn(rf'queue\.{name}="\d+"', f'queue.{name}="{value}"', text)
            if count != 1:
                raise Failure(f"20-dnp-telemetry-forward.conf does not have exactly one queue.{name}")
    return re.sub(r'(action\.resumeInterval(?:Max)?)="\d+"', r'\1="1"', text)


def flood(now, size):
    at = events.stamp(now)
    return [{"event": "prefetch_executed", "scheduleId": f"flood-{number}", "timestamp": at} for number in range(size)]


progress = {}


def numbers(path):
    """The numbers of the entries in a file, read on from where the last call ended."""
    if not path.exists():
        return set()
    with path.open("rb") as file:
        inode, offset, found = progress.get(path, (None, 0, set()))
        status = os.fstat(file.fileno())
        if inode != status.st_ino or status.st_size < offset:
            offset, found = 0, set()
        file.seek(offset)
        new = file.read()
    new = new[: new.rfind(b"\n") + 1]
    found.update(re.findall(rb'"DNP_SEQ": *"(\d+)"', new))
    progress[path] = (status.st_ino, offset + len(new), found)
    return found


def all_numbers(path):
    """The numbers of the entries in the rotated file and in the current one."""
    return numbers(rotated(path)) | numbers(path)


def has(path, entries):
    """Whether a file has this many distinct entries."""
    return len(numbers(path)) >= entries


def arrivals(entries):
    """A probe: the remote has this many entries, or got none for some seconds, since rsyslogd may deadlock.

    After a broken connection the thread that drains the queue puts the message back, and blocks if the queue is full
    (qqueue's doEnqSingleObj, 8.2302).
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
    """Runs logrotate with the shipped file, and a script as systemctl that knows the unit."""
    unit = "dnp-telemetry-rsyslog.service" if own else "rsyslog.service"
    programs = directory / "programs"
    programs.mkdir()
    known = f'[ "$*" = "kill -s HUP {unit}" ] && exec kill -s HUP {sender.process.child.pid}'
    # With a separate process the system's rsyslogd exists too.
    other = '[ "$*" = "kill -s HUP rsyslog.service" ] && exit'
    (programs / "systemctl").write_text(f"#!/bin/sh\n{known}\n{other}\necho no such unit >&2\nexit 1\n")
    (programs / "systemctl").chmod(0o755)
    # rsyslog-rotate checks this directory to detect systemd.
    pathlib.Path("/run/systemd/system").mkdir(exist_ok=True)
    shutil.copyfile(SHIPPED / "logrotate", directory / "logrotate.conf")
    program = shutil.which("logrotate", path="/usr/sbin:/usr/bin") or "logrotate"
    command = [program, "--force", "--state", directory / "logrotate.state", directory / "logrotate.conf"]
    path = f"{programs}:{os.environ['PATH']}"
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path})
    if done.returncode != 0 or done.stderr:
        raise Failure(f"logrotate: {done.returncode} {done.stderr}")


def post_with_faults(service, sender, receiver, own):
    """Posts events and injects the faults between them; returns the number of accepted events."""
    accepted = service.post(events.batch(time.time()))["accepted"]
    until("the first events are in both files", lambda: len(lines(HERE)) == len(lines(THERE)) == accepted)
    sender.end()
    accepted += service.post(json.dumps(flood(time.time() - 3600, 100)).encode())["accepted"]
    receiver.end()
    sender.start()
    until("the events posted while rsyslogd was stopped are in the local file", lambda: has(HERE, accepted))
    posted = flood(time.time(), FLOOD_ALONE if own else FLOOD)
    for part in range(PARTS):
        accepted += service.post(json.dumps(posted[part::PARTS]).encode())["accepted"]
        if part == PARTS // 2:
            sender.end()
            sender.start()
    if own:
        until("the queue is full", lambda: has(HERE, FULL_ALONE))
    else:
        until("the flood is in the local file", lambda: has(HERE, accepted))
    sender.end()
    if own and has(HERE, accepted):
        raise Failure(f"all {accepted} entries were read although the queue for the remote holds {FULL_ALONE}")
    if not list((sender.configuration.parent / "sender").glob("dnp-telemetry-forward.0*")):
        raise Failure("no entry of the flood is queued on disk for the remote")
    sender.start()
    receiver.start()
    if own:
        until("the remote has the flood, or gets nothing more", arrivals(accepted))
        sender.end()
        sender.start()
    until("the remote has the flood", lambda: has(THERE, accepted))
    until("the flood is in the local file", lambda: has(HERE, accepted))
    rotate(sender.configuration.parent, sender, own)
    accepted += service.post(json.dumps(flood(time.time() - 60, ROTATED)).encode())["accepted"]
    # Entries that repeat after a kill may be in the new file before these.
    until(
        "the events posted after the rotation are in the new file",
        lambda: sender.process.output() is not None and has(HERE, ROTATED) and len(all_numbers(HERE)) >= accepted,
    )
    until("the remote has them too", lambda: len(all_numbers(THERE)) >= accepted)
    return accepted


def compare_with_journal(where, found, entries, allowed):
    """Compares a file with the journal, field by field; returns the number of repeated entries."""
    counts = collections.Counter(one["DNP_SEQ"] for one in found)
    again, missing = sum(counts.values()) - len(counts), entries.keys() - counts.keys()
    if again > allowed or missing or len(counts) != len(entries):
        raise Failure(f"{where}: {again} repeated entries, and {len(missing)} of {len(entries)} are missing")
    for one in found:
        wanted = {
            # imjournal keeps the last value of a repeated field.
            name: value[-1] if isinstance(value, list) else value
            for name, value in entries[one["DNP_SEQ"]].items()
            if not name.startswith("_") or name in ("_HOSTNAME", "_SOURCE_REALTIME_TIMESTAMP")
        }
        if one != wanted:
            raise Failure(f"{where}: expected {wanted}, found {one}")
    return again


def senders(directory, own):
    """The rsyslogd that reads the journal: the system's with drop-ins, or a separate one."""
    (directory / "sender").mkdir()
    files = (SHIPPED / "10-dnp-telemetry.conf").read_text() + forwarding(own)
    if own:
        return Rsyslog(directory, "sender", alone(directory / "sender", files), ended_by=signal.SIGKILL)
    # Stands for the system's other rules, which must get none of the entries.
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
        accepted = post_with_faults(service, sender, receiver, own)
        subprocess.run(["systemd-cat", "-t", "another", "echo", "a line of another program"], check=True)
        until("journald has the entry of another program", lambda: journal.entries("SYSLOG_IDENTIFIER=another"))
        sender.end()
        receiver.end()
        entries = {entry["DNP_SEQ"]: entry for entry in journal.entries(OURS)}
        if len(entries) != accepted:
            raise Failure(f"{accepted} events were accepted, and the journal has {len(entries)}")
        stops = STOPS_ALONE if own else STOPS
        allowed = stops * REPEATED if own else 0
        here = compare_with_journal(HERE.name, [json.loads(line) for line in whole(HERE)], entries, allowed)
        there = compare_with_journal(THERE.name, [json.loads(line) for line in whole(THERE)], entries, allowed + stops * WINDOW)
        flooded = collections.Counter(json.loads(entry["MESSAGE"]).get("scheduleId") for entry in entries.values())
        if any(flooded[one["scheduleId"]] < 1 for one in flood(time.time(), FLOOD_ALONE if own else FLOOD)):
            raise Failure("the journal lacks posted events")
        if lines(REST):
            raise Failure(f"the system's log has {lines(REST)[:3]}")
        agents.compare(list(entries.values()))
        both = "\n".join(whole(HERE)) + "\n"
        command = [binary, "validate", "--format", "json", "-"]
        validate = subprocess.run(command, input=both, capture_output=True, text=True)
        if json.loads(validate.stdout)["lines"]["recognised"] != accepted + here:
            raise Failure(f"dnp-telemetry validate does not recognise the file: {validate.stdout[-500:]}")
        return accepted, here, there
    finally:
        for process in (sender.process, receiver.process, service.process, journal.process):
            if process:
                process.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the executable dnp-telemetry")
    parser.add_argument("--alone", action="store_true", help="a separate rsyslogd, killed instead of stopped")
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.binary).resolve()
    journals.enter("deploy/checks/rsyslog.py")
    with tempfile.TemporaryDirectory(prefix="dnp-rsyslog-", dir=journals.PRIVATE[0]) as directory:
        try:
            accepted, here, there = run(binary, pathlib.Path(directory), arguments.alone)
        except Failure as failure:
            sys.exit(f"deploy/checks/rsyslog.py: {failure}")
    ended = f"killed {STOPS_ALONE}" if arguments.alone else f"stopped {STOPS}"
    print(f"rsyslog, {ended} times: {accepted} events, {here} repeated locally, {there} at the remote")


if __name__ == "__main__":
    main()
