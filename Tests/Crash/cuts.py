# SPDX-License-Identifier: Apache-2.0
"""Rounds of lost power: the disk under the ledger is cut at each flush in turn and at random."""

import collections
import os
import shutil
import time

import oracle
from campaign import Rounds, ids
from clients import LineClient, PostingClient
from fleet import numbered
from power import Power
from service import Service, wait_for
from waiting import Finding, until

ROUNDS_OF_CAMPAIGN = 10
# Errors that strace puts in the place of a call, in a part of the rounds; the numbers are filled in.
ERRORS = ["pwrite64:error=EIO:when={first}", "pwrite64:error=EIO:when={first}..{last}", "pwrite64:error=ENOSPC:when={first}+",
          "pwrite64:error=ENOSPC:when={first}..{last}", "fdatasync:error=EIO:when={few}", "fsync:error=EIO:when={few}",
          "fdatasync:error=EIO:when={few}+", "ftruncate:error=EIO:when={few}", "fallocate:error=ENOSPC:when=1+"]
IDLE_SECONDS, ROUND_SECONDS = 0.15, 3


class Sweep:
    """The flush at which the next round cuts: that of the campaign's number, and the ones behind it, as far as there are."""

    def __init__(self, number):
        self.next = number

    def result(self, met):
        self.next = self.next + 1 if met else 1


class Statistics:
    def __init__(self):
        self.rounds = self.swept = self.timed = self.errors = self.repairs = self.events = self.pages = 0
        self.lost = self.losing = self.starts_cut = self.refused = 0
        self.kept, self.durability = collections.Counter(), collections.Counter()

    def __str__(self):
        kept = ", ".join(f"{name} {count}" for name, count in sorted(self.kept.items()))
        durability = ", ".join(f"{name} {count}" for name, count in sorted(self.durability.items()))
        return (f"{self.rounds} cuts ({durability}; {self.swept} at a flush, {self.timed} at random; {self.starts_cut} before "
                f"the service was ready; kept of what waited: {kept}), {self.errors} with errors of calls "
                f"({self.refused} ended the service), {self.repairs} file systems repaired\n"
                f"  {self.events} events in the ledgers, {self.pages} pages; process: {self.lost} acknowledged events that were "
                f"not synced lost in {self.losing} cuts")


class Campaign(Rounds):
    """Cuts of one disk, on which a ledger begins; each start is judged by what was acknowledged before the cut."""

    def __init__(self, run, number, rounds):
        super().__init__(run, number, rounds)
        self.durability = "process" if number % 3 == 0 else "power"
        self.promised = self.durability
        self.is_journaled = self.random.random() < 0.5
        self.service = Service(run.executable, self.directory, self.options())
        # What must be there after a cut, and what a cut was allowed to lose.
        self.synced, self.forgotten = set(), set()
        self.sweep = Sweep(number)

    def options(self):
        return ["--durability", self.durability, "--journal", "journald" if self.is_journaled else "off"]

    def arm(self, **settings):
        self.power.tell("arm", seed=self.random.randrange(10**9), **settings)

    def run_all(self):
        if self.is_journaled:
            self.run.journald.start_empty()
        service = self.service
        # What is repeated after a loss that is allowed is accepted again.
        repeats = 0.1 if self.promised == "power" else 0
        self.clients = [
            PostingClient("keys", self.record, self.seed, service.http, has_keys=True, repeats=repeats),
            PostingClient("no-keys", self.record, self.seed, service.http, has_keys=False, repeats=repeats),
            LineClient("lines", self.record, self.seed, service.lines),
        ]
        self.events = [numbered(f"{client.name}-{self.number}", 10**6) for client in self.clients]
        with Power(self.directory) as self.power:
            service.state = self.power.mounted / "state"
            for client in self.clients:
                client.start()
            try:
                for number in range(self.rounds):
                    self.round = number + 1
                    self.cut_once()
                    self.run.statistics.rounds += 1
                    self.run.told(self)
                self.round = "end"
                self.settle()
            finally:
                self.may_send(True)
                for client in self.clients:
                    client.end()
                service.kill()
                for client in self.clients:
                    client.join(timeout=20)
                self.run.statistics.repairs += self.power.repairs
        shutil.rmtree(self.directory)

    def may_send(self, value):
        for client in self.clients:
            (client.may_send.set if value else client.may_send.clear)()

    def give(self):
        for client, events in zip(self.clients, self.events):
            client.give(next(events) for _ in range(self.random.randint(10, 60)))

    def cut_once(self):
        self.may_send(False)
        self.power.attach()
        rows = self.compare_ledger()
        statistics = self.run.statistics
        swept = self.random.random() < 0.7
        keep = self.random.choice(["none", "some", "torn", "all"])
        statistics.kept[keep] += 1
        statistics.durability[self.durability] += 1
        self.arm(keep=keep, at=self.sweep.next if swept else None)
        error = self.error() if self.random.random() < 0.25 else None
        statistics.errors += error is not None
        self.service.start(error)
        is_met = self.until_cut(rows, limit=ROUND_SECONDS if swept else self.random.uniform(0.05, 1))
        # Without its disk it may end by itself.
        ended_before = not is_met and not self.service.runs
        if not is_met:
            self.power.tell("cut")
        # What a service without its disk still acknowledges counts as acknowledged, too.
        status = self.service.kill()
        if status < 0 and status != -9:
            raise Finding(f"signal {-status} ended the service: {self.log()}")
        if ended_before and not error:
            raise Finding(f"the service ended by itself, with {status}: {self.log()}")
        statistics.refused += bool(error) and status != -9
        if swept:
            self.sweep.result(is_met)
            statistics.swept += is_met
        statistics.timed += not (swept and is_met)
        self.power.detach()
        self.power.tell("restore")

    def error(self):
        first = self.random.randint(1, 60)
        return self.random.choice(ERRORS).format(first=first, last=first + self.random.randint(1, 20),
                                                 few=self.random.randint(1, 6))

    def until_cut(self, rows, limit):
        """Lets the clients send until the power is gone, true, or the limit is reached."""
        began, idle_since, is_open = time.monotonic(), None, False
        while self.service.runs:
            if self.power.is_cut:
                self.run.statistics.starts_cut += not is_open
                return True
            now = time.monotonic() - began
            if now > limit:
                return False
            page = self.service.page()
            if page is None:
                time.sleep(0.005)
                continue
            if not is_open:
                is_open = True
                self.compare_page(page, rows)
                self.give()
                self.may_send(True)
            self.see(page)
            idle = all(client.is_idle for client in self.clients)
            idle_since = (idle_since or now) if idle else None
            if idle_since is not None and now - idle_since > IDLE_SECONDS:
                return False
            if self.durability == "process":
                self.nudge()
            time.sleep(0.01)
        return self.power.is_cut

    def nudge(self):
        """Lets the kernel write a part of what it keeps, or all of it; only the latter is a sync."""
        chance = self.random.random()
        if chance < 0.05:
            _, acknowledged = self.record.snapshot()
            if self.power.synchronize() and not self.power.is_cut:
                self.synced |= acknowledged
        elif chance < 0.3:
            for name in ("ledger.sqlite-wal", "ledger.sqlite", "ledger.mark"):
                try:
                    descriptor = os.open(self.service.state / name, os.O_RDONLY)
                except OSError:
                    continue
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)

    def compare_ledger(self):
        """Holds what the disk has kept against the record; returns the ledger's rows."""
        offered, acknowledged = self.record.snapshot()
        rows = self.service.dump()
        found = set(ids(rows))
        required = acknowledged - self.forgotten
        if self.promised == "process":
            required &= self.synced
            lost = acknowledged - self.forgotten - found
            self.run.statistics.lost += len(lost)
            self.run.statistics.losing += bool(lost)
            self.forgotten |= lost
            if lost:
                self.watch.forget()
        place = f"ledger after the cut ({self.promised})"
        self.require(oracle.compare(ids(rows), offered, required, place))
        self.require(oracle.numbers([row["seq"] for row in rows], place))
        for client in self.clients:
            self.require(oracle.prefix(found, client.sent_without(self.forgotten), f"{place} of {client.name}"))
        self.synced |= found
        if rows:
            rebuilt = self.service.command("ledger", "rebuild", "--quiet", "--state-dir", self.directory / "copy")
            if rebuilt.returncode != 0:
                raise Finding(f"ledger rebuild ended with {rebuilt.returncode}: {rebuilt.stdout}{rebuilt.stderr}")
        return rows

    def compare_page(self, page, rows):
        """The first page after a start must count what the ledger holds."""
        scheduled = sum(row["event"]["event"] == "prefetch_scheduled" for row in rows)
        for name, expected in (("dnp_prefetch_scheduled_total", scheduled), ("dnp_telemetry_events_accepted_total", len(rows)),
                               ("dnp_telemetry_ledger_set_aside", 0), ("dnp_telemetry_unreadable_batches_total", 0)):
            if page.get(name) != expected:
                raise Finding(f"the first page after a cut has {name} {page.get(name)}, expected {expected}")
        if self.promised == "power" and page["dnp_telemetry_ledger_lives"] != 1:
            raise Finding("a new life of the ledger began, though nothing can be missing")

    def settle(self):
        """With power everything is acknowledged, and the journal has each number once."""
        self.may_send(False)
        self.power.attach()
        rows = self.compare_ledger()
        self.service.start()
        self.compare_page(wait_for(self.service, lambda page: True, "a page"), rows)
        self.may_send(True)
        until(lambda: self.require([]) or all(client.is_idle for client in self.clients), "every client is done", 60)
        offered, acknowledged = self.record.snapshot()
        if offered.keys() != acknowledged:
            raise Finding(f"never acknowledged: {oracle.some(offered.keys() - acknowledged)}")
        if self.is_journaled:
            wait_for(self.service, lambda page: page["dnp_telemetry_journal_pending_entries"] == 0, "all is journaled")
        self.service.stop()
        rows = self.service.dump()
        self.require(oracle.compare(ids(rows), offered, acknowledged - self.forgotten, "ledger at the end"))
        self.run.statistics.events += len(rows)
        if self.is_journaled:
            entries = self.run.journald.entries()
            lives = self.rounds + 1 if self.promised == "process" else 1
            self.require(oracle.journal(entries, len(rows), lives))
        self.power.detach()
