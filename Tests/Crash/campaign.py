# SPDX-License-Identifier: Apache-2.0
"""What the campaigns of kills and of cuts share."""

import pathlib
import random

import oracle
from waiting import Finding


class Rounds:
    """Rounds on one ledger, in a directory of its own, under clients that record what they were acknowledged."""

    def __init__(self, run, number, rounds):
        self.run, self.number, self.rounds = run, number, rounds
        self.seed = f"{run.seed}-{number}"
        self.random = random.Random(self.seed)
        self.directory = pathlib.Path(run.directory) / f"campaign-{number}"
        self.directory.mkdir()
        self.record, self.watch = oracle.Record(), oracle.PageWatch()
        self.round = 0

    def log(self):
        return (self.directory / "service.log").read_text(errors="replace")[-1500:]

    def see(self, page):
        self.run.statistics.pages += 1
        self.require(self.watch.see(page))

    def require(self, findings):
        for finding in findings:
            raise Finding(finding)
        for client in self.clients:
            if client.failure:
                raise Finding(client.failure)


def ids(rows):
    """The ids of events; the collector's own verdicts have none."""
    return [row["event"]["eventId"] for row in rows if "eventId" in row["event"]]
