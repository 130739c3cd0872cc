# SPDX-License-Identifier: Apache-2.0
"""The upgrade to a later version, under load."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from service import counted, confirmed, main_process, require, sequences
from machine import until

LOAD = str(pathlib.Path(__file__).parent / "load.py")


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
    """An upgrade under load refuses no connection and loses no event"""
    before, process = counted(machine), main_process(machine)
    load = machine.start([sys.executable, LOAD, "upgrade"], stdin=-1, stdout=-1)
    time.sleep(2)
    machine.run("dpkg -i /root/later.deb", timeout=120)
    until(lambda: main_process(machine) not in (0, process), "the new process", 30)
    time.sleep(2)
    result = json.loads(load.communicate(timeout=60)[0])
    print("      " + json.dumps({name: value for name, value in result.items() if name != "failures"}))
    require(machine.run("dpkg-query -W -f '${Version}' dnp-telemetry").stdout.endswith("+later"), "not upgraded")
    for kind in ("refused", "broken", "other_answers", "lost"):
        require(not result.get(kind), f"{kind}: {result[kind] if kind in result else 0}: {result['failures']}")
    require(counted(machine) == before + result["acknowledged"],
            f"expected {before} + {result['acknowledged']} events counted, found {counted(machine)}")
    confirmed(machine)
    numbers = sequences(machine)
    require(len(numbers) == len(set(numbers)) == counted(machine), "the journal has other entries than the ledger")
