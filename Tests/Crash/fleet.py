# SPDX-License-Identifier: Apache-2.0
"""The events of a simulated fleet, told apart by ids of our own, and its truth."""

import collections
import datetime
import json
import random

from waiting import Finding

SCENARIOS = "everyday,everyday,refresh-everyday"
# The most of each; a device that loses its storage has nothing to send.
FAULTS = {"duplicate": 0.2, "reorder": 0.3, "clock-step": 0.1, "clock-drift": 0.0002, "zone": 0.1, "battery": 0.1}

SILENCE = datetime.timedelta(seconds=40)


class Fleet:
    """What `simulate` tells for a seed; the events of one device stay in their order, with one client.

    One more device writes a log in the plugin's own lines, which have no ids.
    """

    def __init__(self, service, seed, devices, days):
        self.service, self.seed = service, seed
        drawn = random.Random(seed)
        self.faults = ",".join(f"{name}={drawn.uniform(0, most):.6f}" for name, most in FAULTS.items())
        told, series = self.simulate("fleet", "--devices", devices, "--days", days, "--scenario", SCENARIOS)
        self.devices, self.ids = collections.defaultdict(list), set()
        ids = {}
        for line in told:
            event = json.loads(line)
            # What the fleet tells twice has one id.
            one = ids.setdefault(line, f"e-{len(ids)}")
            event["eventId"] = one
            device = event.get("installationId") or event.get("deviceId")
            self.devices[device].append((one, json.dumps(event, separators=(",", ":"))))
        self.ids = set(ids.values())
        lines, of_log = self.simulate("log", "--days", devices * days // 4, "--format", "lines")
        self.bursts = bursts(lines)
        self.truth = service.directory / "truth.json"
        whole = {name: series.get(name, 0) + of_log.get(name, 0) for name in series | of_log}
        self.truth.write_text(json.dumps(self.plan | {"series": whole}))

    def simulate(self, name, *options):
        """The lines of a fleet, and its truth."""
        out, truth = self.service.directory / name, self.service.directory / f"{name}.json"
        made = self.service.command("simulate", "--seed", self.seed, "--faults", self.faults, "--out", out, "--truth", truth,
                                    *options)
        if made.returncode != 0:
            raise Finding(f"simulate ended with {made.returncode}: {made.stderr.strip()}")
        self.plan = json.loads(truth.read_text())
        return out.read_text().splitlines(), self.plan["series"]

    def shares(self, clients):
        """The events for each client: whole devices, in turns of days as far as their lines are interleaved."""
        shares = [[] for _ in range(clients)]
        for number, events in enumerate(self.devices.values()):
            shares[number % clients].append(events)
        return [interleaved(share) for share in shares]


def bursts(lines):
    """The lines of a log in groups between which the device was silent.

    Lines that name no cycle wait a second for the next one that does, so those of one moment are written together.
    """
    groups, last = [], None
    for number, line in enumerate(lines):
        stamp = datetime.datetime.fromisoformat(line[:31])
        if last is None or abs(stamp - last) > SILENCE:
            groups.append([])
        groups[-1].append((str(number), line))
        last = stamp
    return groups


def interleaved(devices):
    """The events of several devices, a few of each at a time."""
    events, position = [], 0
    while any(position < len(device) for device in devices):
        for device in devices:
            events += device[position:position + 7]
        position += 7
    return events


def numbered(prefix, count, first=0):
    """Events that each count once as scheduled, of a single device."""
    for number in range(first, first + count):
        one = f"{prefix}-{number}"
        minute = number % 60
        stamp = f"2025-11-{number // 1440 % 28 + 1:02}T{number // 60 % 24:02}:{minute:02}:00Z"
        event = {"event": "prefetch_scheduled", "timestamp": stamp, "scheduleId": one, "installationId": prefix,
                 "eventId": one}
        yield one, json.dumps(event, separators=(",", ":"))
