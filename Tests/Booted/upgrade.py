# SPDX-License-Identifier: Apache-2.0
"""The upgrade to a later version, under load."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from machine import until
from service import CONFIGURATION, LINES, UNIT, counted, confirmed, main_process, require, sequences

LOAD = str(pathlib.Path(__file__).parent / "load.py")
FOLLOWED = "/var/log/device.log"
# So many events are counted before the old process ends, and so many by the new one.
UNDER_LOAD = 2_000


def later(package):
    """The same package with a higher version."""
    folder = tempfile.mkdtemp()
    root, result = f"{folder}/root", f"{folder}/later.deb"
    subprocess.run(["dpkg-deb", "-R", package, root], check=True, timeout=120)
    control = pathlib.Path(root, "DEBIAN/control")
    control.write_text(re.sub(r"^(Version: .*)$", r"\1+later", control.read_text(), flags=re.M))
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", root, result], check=True, timeout=120,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["rm", "-r", root], check=True)
    return result


def upgrade(machine):
    """An upgrade under load refuses no connection and loses no event: over HTTP, the socket of lines and a file"""
    settings = machine.run(f"cat {CONFIGURATION}").stdout
    machine.write(FOLLOWED, "")
    machine.write(CONFIGURATION, f"{settings}\nfollow:\n  - {FOLLOWED}\n")
    machine.run(f"systemctl restart {UNIT}", timeout=30)
    before, process = counted(machine), main_process(machine)
    words = [sys.executable, LOAD, "upgrade", str(machine.path(LINES)), str(machine.path(FOLLOWED))]
    load = machine.start(words, stdin=-1, stdout=-1)
    until(lambda: counted(machine) > before + UNDER_LOAD, "the load", 30)
    machine.run("dpkg -i /root/later.deb", timeout=120)
    until(lambda: main_process(machine) not in (0, process), "the new process", 30)
    between = counted(machine)
    until(lambda: counted(machine) > between + UNDER_LOAD, "the load on the new process", 30)
    result = json.loads(load.communicate(timeout=60)[0])
    print("      " + json.dumps({name: value for name, value in result.items() if name != "failures"}))
    require(machine.run("dpkg-query -W -f '${Version}' dnp-telemetry").stdout.endswith("+later"), "not upgraded")
    for kind in ("refused", "broken", "other_answers", "lost", "lines_refused", "lines_lost"):
        require(not result.get(kind), f"{kind}: {result[kind] if kind in result else 0}: {result['failures']}")
    for kind in ("acknowledged", "lines", "written"):
        require(result[kind] > 100, f"{kind}: {result[kind]}, which is no load")
    expected = before + result["acknowledged"] + result["lines"] + result["written"]
    try:
        until(lambda: counted(machine) >= expected, "the followed file", 30)
    finally:
        found = counted(machine)
        print(f"      {found - before} counted of {expected - before}")
    require(found == expected, f"expected {expected} events counted, found {found}")
    confirmed(machine)
    numbers = sequences(machine)
    require(len(numbers) == len(set(numbers)) == counted(machine), "the journal has other entries than the ledger")
    machine.write(CONFIGURATION, settings)
    machine.run(f"systemctl restart {UNIT}", timeout=30)
