# SPDX-License-Identifier: Apache-2.0
"""Installation, the units, removal."""

import re

from machine import until
from service import BASE, SOCKETS, UNIT, counted, fetch, post, require, scheduled

PRIVATE = "=> /usr/lib/dnp-telemetry/"


def without_swift(machine):
    """The package installs on a machine without Swift"""
    found = machine.run("command -v swift swiftc; ldconfig -p | grep -i swift; ls /usr/lib/swift", check=False)
    require(not found.stdout.strip(), f"the machine has Swift: {found.stdout}")
    # Images of containers leave them out.
    machine.write("/etc/dpkg/dpkg.cfg.d/zz-documents", "path-include=/usr/share/doc/dnp-telemetry/*\n")
    machine.run("dpkg -i /root/dnp-telemetry.deb", timeout=120)
    libraries = machine.run("ldd /usr/bin/dnp-telemetry").stdout
    # The package of the build of the tests brings them along.
    foreign = [line for line in libraries.lower().splitlines() if "swift" in line and PRIVATE not in line]
    require("not found" not in libraries and not foreign, libraries)
    version = machine.run("dpkg-query -W -f '${Version}' dnp-telemetry").stdout
    require(machine.run("dnp-telemetry --version").stdout.split()[0] == version, f"not of version {version}")


def units(machine):
    """systemd has nothing to say about the units, which name pages that there are, and rates them 1.0 and 0.3"""
    complaints = machine.run(f"systemd-analyze verify --man=no {UNIT} {SOCKETS} 2>&1").stdout
    require(not complaints, complaints)
    # Neither man nor the pages have to be on the machine.
    files = machine.run("dpkg-deb --contents /root/dnp-telemetry.deb").stdout
    named = set(re.findall(r"man:(\S+)\((\d)\)", machine.run(f"systemctl cat {UNIT} {SOCKETS}").stdout))
    lacking = [f"{page}({part})" for page, part in named if f"/man{part}/{page}.{part}.gz\n" not in files]
    require(named and not lacking, f"the units name {named}, of which the package lacks {lacking}")
    require(exposure(machine) <= 1.0, f"expected an exposure of 1.0 at most, found {exposure(machine)}")
    seal(machine)
    complaints = machine.run(f"systemd-analyze verify --man=no {UNIT} 2>&1").stdout
    require(not complaints, complaints)
    require(exposure(machine) <= 0.3, f"expected an exposure of 0.3 at most when sealed, found {exposure(machine)}")
    unseal(machine)


def exposure(machine):
    last = machine.run(f"systemd-analyze security --offline=true --no-pager {UNIT}").stdout.strip().splitlines()[-1]
    return float(last.split(":")[1].split()[0])


def seal(machine):
    machine.run(
        "mkdir -p /etc/systemd/system/dnp-telemetry.service.d &&"
        " cp /usr/share/doc/dnp-telemetry/examples/sealed.conf /etc/systemd/system/dnp-telemetry.service.d/ &&"
        " systemctl daemon-reload"
    )


def unseal(machine):
    machine.run("rm -r /etc/systemd/system/dnp-telemetry.service.d && systemctl daemon-reload")


def sealed(machine):
    """Sealed, it serves through the sockets and has no network of its own"""
    seal(machine)
    machine.run(f"systemctl restart {UNIT}")
    before = counted(machine)
    post(machine, scheduled("sealed", 10))
    require(counted(machine) == before + 10, "events were not counted")
    process = machine.show(UNIT, "MainPID")
    networks = machine.run(f"readlink /proc/1/ns/net /proc/{process}/ns/net").stdout.split()
    require(networks[0] != networks[1], "it has the machine's network")
    unseal(machine)
    machine.run(f"systemctl restart {UNIT}")


def removal(machine):
    """Removal stops everything and keeps the state; installed again, the counters go on; purging removes the state"""
    before = counted(machine)
    machine.run("dpkg -r dnp-telemetry", timeout=120)
    listening = machine.run("ss -Hltn 'sport = :10910'; ls /run/dnp-telemetry/lines.sock", check=False).stdout
    require(not listening.strip(), f"still there: {listening}")
    require(machine.show(UNIT, "LoadState") == "not-found", "the unit is still known")
    machine.run("test -e /var/lib/dnp-telemetry/ledger.sqlite && test -e /etc/dnp-telemetry/config.yml")
    machine.run("dpkg -i /root/dnp-telemetry.deb", timeout=120)
    until(lambda: fetch(machine, "/-/ready"), "the service to be ready", 30)
    require(counted(machine) == before, f"the counter went from {before} to {counted(machine)}")
    told = machine.run("dpkg -P dnp-telemetry", timeout=120).stdout
    require("Removing /var/lib/private/dnp-telemetry" in told, f"it does not say that it removes the state: {told}")
    left = machine.run(
        "ls -d /var/lib/dnp-telemetry /var/lib/private/dnp-telemetry /etc/dnp-telemetry /run/dnp-telemetry"
        f" /etc/systemd/system/*/dnp-telemetry*; curl -s {BASE}",
        check=False,
    ).stdout
    require(not left.strip(), f"left behind: {left}")
