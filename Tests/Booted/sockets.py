# SPDX-License-Identifier: Apache-2.0
"""Sockets that were stopped, and one more."""

import pathlib
import re
import textwrap

from line_clients import LineClient
from machine import until
from service import CONFIGURATION, LINES, SOCKETS, UNIT, fetch, require

HTTP = "/run/dnp-telemetry/http.sock"


def documented():
    """The unit that docs/listeners.md tells to write."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "listeners.md").read_text()
    block = re.search(r"(?m)^    \[Socket\]\n    ListenStream=" + HTTP + r"\n(?:    .*\n|\n)+?(?=^\S)", text)
    require(block, f"docs/listeners.md has no socket unit of {HTTP}")
    return textwrap.dedent(block.group())


def stopped(machine):
    """With its sockets stopped, a start of the service starts them again, and so does a restart"""
    for stop, start in ((f"{UNIT} {SOCKETS}", "start"), ("dnp-telemetry-lines.socket", "restart")):
        machine.run(f"systemctl stop {stop}")
        require(machine.run(f"test -e {LINES}", check=False).returncode != 0, f"{LINES} is there, and its unit stopped")
        machine.run(f"systemctl {start} {UNIT}", timeout=30)
        require(fetch(machine, "/-/ready"), f"HTTP is not served after a {start}")
        answer = LineClient(str(machine.path(LINES))).send("# a comment")
        require(answer == "ok 1", f"lines are not served after a {start}: {answer!r}")


def unix(machine):
    """HTTP on a Unix socket, as docs/listeners.md has it, is for its group, and for its role"""
    before = machine.run(f"cat {CONFIGURATION}").stdout
    machine.write("/etc/systemd/system/dnp-telemetry-unix.socket", documented())
    machine.run("mkdir -p /etc/systemd/system/dnp-telemetry.service.d")
    machine.write("/etc/systemd/system/dnp-telemetry.service.d/unix.conf", "[Unit]\nWants=dnp-telemetry-unix.socket\n")
    machine.write(CONFIGURATION, before.replace("listen:\n", "listen:\n  - systemd:unix serve=metrics\n"))
    machine.run("systemctl daemon-reload && systemctl enable -q dnp-telemetry-unix.socket")
    machine.run(f"systemctl restart {UNIT}", timeout=30)
    ask = f"curl -s -m 5 -o /dev/null -w '%{{http_code}}' --unix-socket {HTTP} http://localhost"
    as_nobody = "setpriv --reuid nobody --regid nogroup"
    found = [
        machine.run(f"{as_nobody} {words}", check=False).stdout
        for words in (f"--groups adm {ask}/metrics", f"--groups adm {ask}/v1/events", f"--clear-groups {ask}/metrics")
    ]
    require(found == ["200", "404", "000"], f"expected the metrics for the group alone, found {found}")
    machine.write(CONFIGURATION, before)
    # Stopped while its unit is known, it removes its socket.
    machine.run(
        f"systemctl disable -q dnp-telemetry-unix.socket && systemctl stop {UNIT} dnp-telemetry-unix.socket"
        " && rm /etc/systemd/system/dnp-telemetry-unix.socket && rm -r /etc/systemd/system/dnp-telemetry.service.d"
        f" && systemctl daemon-reload && systemctl start {UNIT}",
        timeout=30,
    )
    until(lambda: fetch(machine, "/-/ready"), "the service to be ready", 30)
