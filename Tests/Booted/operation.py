# SPDX-License-Identifier: Apache-2.0
"""Start, stop, watchdog, reload."""

import json
import pathlib
import shlex
import time

from machine import Failure, until
from service import (BASE, CONFIGURATION, LINES, UNIT, active, confirmed, counted, fetch, main_process, post, require,
                     samples, scheduled, sequences, status)


def activation(machine):
    """The first request starts the service"""
    require(machine.show(UNIT, "ActiveState") == "inactive", "the service runs before anyone asked for it")
    require(fetch(machine, "/-/ready"), "no answer")
    require(active(machine), "the service is not active")


def pipeline(machine):
    """Events that are posted are on the page and in the journal, where each is explained"""
    answer = post(machine, scheduled("first", 3))
    require(answer["accepted"] == 3, f"not accepted: {answer}")
    require(counted(machine) == 3, "not counted")
    confirmed(machine)
    lines = machine.run("journalctl -q -t dnp-telemetry -o cat DNP_EVENT=prefetch_scheduled").stdout.splitlines()
    require(len(lines) == 3 and all(line.startswith('{"event":"prefetch_scheduled"') for line in lines), f"{lines}")
    explained = machine.run("journalctl -q -x -t dnp-telemetry DNP_EVENT=prefetch_scheduled").stdout
    require(explained.count("Subject: A prefetch was scheduled") == 3, explained)


def lines(machine):
    """The line socket takes lines of its group and of nobody else"""
    before = counted(machine)
    machine.write("/tmp/line_clients.py", (pathlib.Path(__file__).parent / "line_clients.py").read_text())
    [event] = scheduled("line", 1)
    send = f"python3 /tmp/line_clients.py {LINES} {shlex.quote(json.dumps(event))}"
    as_nobody = "setpriv --reuid nobody --regid nogroup"
    answer = machine.run(f"{as_nobody} --groups dnp-telemetry-lines {send}").stdout
    require(answer == "ok 1\n", f"not acknowledged: {answer!r}")
    require(counted(machine) == before + 1, "not counted")
    refused = machine.run(f"{as_nobody} --clear-groups {send}", check=False)
    require(refused.stderr == "Permission denied\n", f"another user may connect: {refused.stdout} {refused.stderr}")


def readiness(machine):
    """It is started when the ledger is recovered: until then clients wait, and none is refused"""
    before = counted(machine)
    # Stopped as soon as it has the ledger open; a recovery that is done by then is tried again.
    stop = (
        f"systemctl kill -s KILL {UNIT}; systemctl stop {UNIT}; systemctl start --no-block {UNIT};"
        f" until process=$(systemctl show -P MainPID {UNIT}) && [[ $process != 0 ]]; do :; done;"
        " until readlink /proc/$process/fd/* 2>/dev/null | grep -q ledger.sqlite; do :; done;"
        " kill -STOP $process; echo $process"
    )
    for _ in range(30):
        process = machine.run(stop, timeout=20).stdout.strip()
        if machine.show(UNIT, "ActiveState") == "activating":
            break
        machine.run(f"kill -CONT {process}")
    else:
        raise Failure("it was ready each time before it could be stopped")
    waiting = machine.start(["curl", "-sS", "-m", "30", f"{BASE}/metrics"], stdout=-1)
    time.sleep(1)
    require(machine.show(UNIT, "ActiveState") == "activating", "it is started and does not run")
    require(waiting.poll() is None, "a client did not wait")
    machine.run(f"kill -CONT {process}")
    page = waiting.communicate(timeout=30)[0]
    require(f"\ndnp_prefetch_scheduled_total {before}\n" in page, "the first page is not that of the recovered ledger")
    until(lambda: active(machine), "the service to be active", 10)


def token(machine):
    """A token that systemd hands over is asked for, and taken"""
    secret = "0123456789abcdef0123456789abcdef"
    machine.write("/etc/dnp-telemetry/credentials/token-test", secret + "\n")
    machine.run("chmod 600 /etc/dnp-telemetry/credentials/token-test")
    change(machine, "LoadCredential=token-test:/etc/dnp-telemetry/credentials/token-test")
    body = "--data-binary @/usr/share/common-licenses/GPL-3 -H 'Content-Type: text/plain'"
    require(status(machine, "/v1/events", body) == "401", "it is served without the token")
    bearer = f"{body} -H 'Authorization: Bearer {secret}'"
    require(status(machine, "/v1/events", bearer) == "200", "the token is refused")
    change_back(machine)
    require(status(machine, "/v1/events", body) == "200", "it still asks for the token")


def change(machine, *lines):
    """Changes the unit, and restarts the service."""
    machine.run("mkdir -p /run/systemd/system/dnp-telemetry.service.d")
    machine.write("/run/systemd/system/dnp-telemetry.service.d/change.conf", "\n".join(["[Service]", *lines, ""]))
    machine.run(f"systemctl daemon-reload && systemctl restart {UNIT}")


def change_back(machine):
    machine.run(
        "rm -r /run/systemd/system/dnp-telemetry.service.d && systemctl daemon-reload &&"
        f" systemctl restart {UNIT}"
    )


def watchdog(machine):
    """A process that stands still is killed and started again, and counters go on"""
    # The times of the unit, made short.
    change(machine, "WatchdogSec=3", "TimeoutAbortSec=1")
    before, process = counted(machine), main_process(machine)
    time.sleep(7)
    require(main_process(machine) == process, "the watchdog ended a process that works")
    machine.run(f"kill -STOP {process}")
    until(lambda: main_process(machine) not in (0, process), "the watchdog to start another process", 20)
    require(counted(machine) == before, "the counter did not go on")
    log = machine.run(f"journalctl -q -u {UNIT} -t systemd").stdout
    require("Watchdog timeout" in log, log[-2000:])
    change_back(machine)


def reload(machine):
    """A reload applies a changed setting without a restart, and names a wrong one"""
    process, settings = main_process(machine), machine.path(CONFIGURATION).read_text()
    body = "--data-binary @/usr/share/common-licenses/GPL-3 -H 'Content-Type: text/plain'"
    require(status(machine, "/v1/events", body) == "200", "the body is refused before")
    machine.write(CONFIGURATION, settings + "\nmax-body: 1KiB\n")
    machine.run(f"systemctl reload {UNIT}")
    until(lambda: status(machine, "/v1/events", body) == "413", "the new limit to hold", 10)
    machine.write(CONFIGURATION, settings + "\nmax-bodi: 1KiB\n")
    machine.run(f"systemctl reload {UNIT}", check=False)
    until(lambda: "max-bodi" in machine.run(f"journalctl -q -u {UNIT}").stdout, "the wrong key to be named", 10)
    require(status(machine, "/v1/events", body) == "413", "a wrong file changed something")
    machine.write(CONFIGURATION, settings)
    machine.run(f"systemctl reload {UNIT}")
    until(lambda: status(machine, "/v1/events", body) == "200", "the old limit to hold", 10)
    require(main_process(machine) == process, "it was restarted")


def exports_give_way(machine):
    """The thread that reads and encodes for destinations has a lower priority, and only it"""
    change(machine, "Environment=OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=http://127.0.0.1:9/v1/logs")
    process = main_process(machine)
    for start in range(0, 20_000, 5_000):
        post(machine, scheduled("export", 5_000, start))
    threads = f"ps -L -o comm=,ni= -p {process}"
    until(lambda: " 15" in machine.run(threads).stdout, "a thread with less priority", 10)
    threads = [line.split() for line in machine.run(threads).stdout.splitlines()]
    others = [name for name, niceness in threads if niceness != "0" and not name.startswith("TP-")]
    require(not others, f"these threads do not have the usual priority: {others}")
    log = machine.run(f"journalctl -q _PID={process}").stdout
    require("thread priority" not in log, log)
    change_back(machine)


def status_text(machine):
    """systemctl status shows what it does"""
    post(machine, scheduled("status", 100))
    until(lambda: machine.show(UNIT, "StatusText"), "a status text", 15)


def burst(machine):
    """200,000 events posted at once each stand in the journal once"""
    for start in range(0, 200_000, 10_000):
        answer = post(machine, scheduled("burst", 10_000, start))
        require(answer["accepted"] == 10_000, f"not accepted: {answer['accepted']}")
    confirmed(machine, 120)
    numbers = sequences(machine)
    total = counted(machine)
    require(len(numbers) == len(set(numbers)), "entries stand twice")
    require(len(numbers) == total, f"expected {total} entries, found {len(numbers)}")
    lost = samples(machine)["dnp_telemetry_journal_entries_lost_total"]
    dropped = machine.run("journalctl -q MESSAGE_ID=a596d6fe7bfa4994828e72309e95d61e", check=False).stdout
    require(lost == 0 and not dropped.strip(), f"{lost} entries were dropped first: {dropped}")
