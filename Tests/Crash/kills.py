# SPDX-License-Identifier: Apache-2.0
"""Rounds of SIGKILL: the service under five kinds of client, killed at system calls in turn and at random."""

import collections
import itertools
import shutil
import subprocess
import time

import oracle
from campaign import Rounds, ids
from clients import LineClient, PostingClient, SendingClient, Writer
from fleet import Fleet
from isolation import mount_memory
from service import Service, wait_for
from waiting import Finding, until

ROUNDS_OF_CAMPAIGN = 20
# The calls of a first start, and how many of each it makes on a thread. A question mark: not every architecture has it.
FIRST_CALLS = {"?rename,?renameat,?renameat2": 1, "fsync": 6, "?unlink,unlinkat": 4, "ftruncate,fallocate": 5,
               "fdatasync": 14, "pwrite64": 40}
# The calls of every start and of ingest.
CALLS = ["pwrite64", "sendmsg,sendto", "fdatasync", "writev,write"]
# How long a round waits for its call once nothing is left to do, and at all.
IDLE_SECONDS, ROUND_SECONDS = 0.3, 4


class Sweep:
    """The call at which the next round kills, and its number.

    A campaign begins with two calls of the ledger's creation, others than the campaign before. Then the calls of ingest
    take turns, each from its first on in steps until a round does not make as many.
    """

    def __init__(self, number, seeded):
        self.random = seeded
        first = [(call, count + 1) for call, most in FIRST_CALLS.items() for count in range(most)]
        self.first = [first[(2 * number + index) % len(first)] for index in range(2)]
        self.next = dict.fromkeys(CALLS, 1)
        self.calls = itertools.cycle(CALLS)

    def injection(self):
        if self.first:
            return self.first.pop(0)
        call = next(self.calls)
        return call, self.next[call]

    def result(self, call, is_met):
        if call in self.next:
            self.next[call] = self.next[call] + self.random.randint(1, 12) if is_met else 1


class Statistics:
    def __init__(self):
        self.calls = collections.Counter()
        self.rounds = self.exact = self.timed = self.journald = self.acknowledged = self.pages = self.starts_killed = 0
        self.clients = {}

    def note(self, call, was_ready):
        """Notes a kill at a call, or at a random time."""
        self.rounds += 1
        self.exact += call is not None
        self.timed += call is None
        self.starts_killed += not was_ready
        if call:
            self.calls[call] += 1

    def add(self, clients):
        for client in clients:
            sums = self.clients.setdefault(client.name, dict.fromkeys(client.counts, 0))
            for name, count in client.counts.items():
                sums[name] += count

    def __str__(self):
        clients = "; ".join(f"{name}: " + ", ".join(f"{count} {what}" for what, count in counts.items() if count)
                            for name, counts in self.clients.items())
        calls = ", ".join(f"{call.replace('?', '')} {count}" for call, count in self.calls.most_common())
        return (f"{self.rounds} kills ({self.exact} at a system call, {self.timed} at random; {self.starts_killed} before "
                f"the service was ready, {self.journald} with journald), {self.acknowledged} events in the ledger, "
                f"{self.pages} pages\n  at {calls}\n  {clients}")


class Campaign(Rounds):
    """Rounds on one ledger, which begins empty and ends with everything compared."""

    def __init__(self, run, number, rounds):
        super().__init__(run, number, rounds)
        self.sweep = Sweep(number, self.random)
        self.followed, self.device_log = self.directory / "events.log", self.directory / "device.log"
        options = ["--journal", "journald", "--durability", self.random.choice(["process", "power"]), "--follow",
                   str(self.followed), "--follow", str(self.device_log)]
        self.service = Service(run.executable, self.directory, options)
        self.service.state.mkdir()
        # A small file system has a short write-ahead log, which moves into the database often.
        mount_memory(self.service.state, self.random.choice(["24m", "64m", "256m"]))

    def run_all(self):
        self.run.journald.start_empty()
        self.service.run_late()
        self.fleet = Fleet(self.service, self.random.randrange(1, 10**9), 6 * self.rounds // 4 + 10, 4)
        self.begin_clients()
        try:
            for number in range(self.rounds):
                self.round = number + 1
                self.kill_once()
                self.after_kill()
                self.run.told(self)
            self.round = "end"
            self.settle()
        finally:
            for client in self.clients:
                client.end()
            self.service.kill()
            for client in self.clients:
                client.join(timeout=20)
        self.run.statistics.add(self.clients)
        subprocess.run(["umount", str(self.service.state)], check=True)
        shutil.rmtree(self.directory)

    def client_path(self):
        """The socket of the posting clients."""
        return self.service.http

    def after_kill(self):
        """For planted faults."""

    def begin_clients(self):
        http, directory = self.client_path(), self.directory
        self.writer = Writer("follow", self.record, self.seed, self.followed)
        self.logger = Writer("log", oracle.Record(), self.seed, self.device_log, is_whole=True)
        self.clients = [
            PostingClient("keys", self.record, self.seed, http, has_keys=True),
            PostingClient("no-keys", self.record, self.seed, http, has_keys=False),
            LineClient("lines", self.record, self.seed, self.service.lines),
            SendingClient("send", self.record, self.seed, self.service, directory),
            self.writer, self.logger,
        ]
        shares = self.fleet.shares(len(self.clients) - 1)
        self.written = {one for one, _ in shares[self.clients.index(self.writer)]}
        shares = [[[event] for event in share] for share in shares] + [self.fleet.bursts]
        self.shares = [iter(share) for share in shares]
        self.portions = [max(1, len(share) // self.rounds) for share in shares]
        for client in self.clients:
            client.start()

    def give(self, everything=False):
        for client, share, portion in zip(self.clients, self.shares, self.portions):
            groups = share if everything else itertools.islice(share, portion)
            client.give(itertools.chain.from_iterable(groups))

    def kill_once(self):
        injection = self.sweep.injection() if self.random.random() < 0.7 else None
        limit = ROUND_SECONDS if injection else self.random.uniform(0.02, 1.2)
        journald_at = self.random.uniform(0, 0.8) if self.random.random() < 0.15 else None
        self.give()
        self.run.journald.ensure()
        self.service.start(f"{injection[0]}:signal=KILL:when={injection[1]}" if injection else None)
        was_ready = self.watch_until(limit, injection is not None, journald_at)
        is_met = not self.service.runs
        status = self.service.kill()
        if status != -9 or is_met and not injection:
            raise Finding(f"the service ended by itself, with {status}: {self.log()}")
        if injection:
            self.sweep.result(injection[0], is_met)
        self.run.statistics.note(injection[0] if injection and is_met else None, was_ready)
        self.compare_ledger()

    def watch_until(self, limit, waits_for_call, journald_at):
        """Scrapes until the service is dead or to be killed; true if it was ready before."""
        began, idle_since, was_ready = time.monotonic(), None, False
        while self.service.runs:
            now = time.monotonic() - began
            if journald_at is not None and now > journald_at:
                self.run.journald.kill()
                self.run.statistics.journald += 1
                journald_at = None
            if now > limit:
                break
            page = self.service.page()
            if page is not None:
                was_ready = True
                self.see(page)
                is_idle = all(client.is_idle for client in self.clients)
                idle_since = (idle_since or now) if is_idle else None
                if waits_for_call and idle_since is not None and now - idle_since > IDLE_SECONDS:
                    break
            time.sleep(0.02)
        return was_ready

    def compare_ledger(self):
        """With the service dead nobody is acknowledged anything: what was must be there."""
        offered, acknowledged = self.record.snapshot()
        rows = self.service.dump()
        self.writer.is_followed = not self.written.isdisjoint(ids(rows))
        self.logger.is_followed = any("eventId" not in row["event"] for row in rows)
        self.require(oracle.compare(ids(rows), offered, acknowledged, "ledger"))
        self.require(oracle.numbers([row["seq"] for row in rows], "ledger"))

    def settle(self):
        """Without kills everything is acknowledged, journaled and judged, and comes to the truth of the fleet."""
        self.run.journald.ensure()
        self.service.start()
        self.give(everything=True)
        until(lambda: self.require([]) or all(client.is_idle for client in self.clients), "every client is done", 120)
        offered, acknowledged = self.record.snapshot()
        if lost := offered.keys() - acknowledged - self.written:
            raise Finding(f"{len(lost)} events were never acknowledged: {oracle.some(lost)}")
        wait_for(self.service, lambda page: page["dnp_telemetry_events_accepted_total"] >= len(offered),
                 f"{len(offered)} events are accepted")
        self.expect_truth()
        wait_for(self.service, lambda page: page["dnp_telemetry_journal_pending_entries"] == 0, "all is journaled")
        self.service.stop()
        rows = self.service.dump()
        self.require(oracle.compare(ids(rows), offered, set(offered), "ledger"))
        self.run.statistics.acknowledged += len(rows)
        self.verify()

    def expect_truth(self):
        """The counters must come to the fleet's truth, once the last lines are read, and once no cycle is open all else."""
        def verdict():
            return self.service.command("simulate", "--truth", self.fleet.truth, "--verify", f"unix:{self.service.http}")
        try:
            until(lambda: verdict().returncode == 0, "the fleet's truth", 15, every=0.2)
        except Finding:
            told = verdict()
            raise Finding(f"simulate --verify ended with {told.returncode}: {told.stdout}{told.stderr}") from None

    def verify(self):
        """By the true clock, three hours later, every cycle closes."""
        self.service.preload = None
        self.service.start()
        page = wait_for(self.service, lambda page: page["dnp_prefetch_open_cycles"] == 0
                        and page.get("aiq_background_refresh_open_runs", 0) == 0
                        and page.get("dnp_telemetry_journal_pending_entries") == 0, "every cycle closes and is journaled")
        self.see(page)
        self.expect_truth()
        self.service.stop()
        entries = self.run.journald.entries()
        self.require(oracle.journal(entries, int(page["dnp_telemetry_ledger_sequence"])))
        offered, _ = self.record.snapshot()
        self.require(oracle.compare([entry["DNP_EVENT_ID"] for entry in entries if "DNP_EVENT_ID" in entry], offered,
                                    set(offered), "journal"))
        checked = self.service.command("ledger", "verify", "--quiet", "--state-dir", self.service.state)
        if checked.returncode != 0:
            raise Finding(f"ledger verify ended with {checked.returncode}: {checked.stdout}{checked.stderr}")
