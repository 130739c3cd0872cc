# SPDX-License-Identifier: Apache-2.0
"""What clients know, and the places that must agree with it: ledger, page and journal.

The truth is the clients' own record of what they sent and what was acknowledged, never a check of the store by itself.
Each function returns what is wrong, in sentences, and does no I/O.
"""

import collections
import threading

# What may never fall, nor go away, from one page to the next.
DURABLE = ("dnp_prefetch_", "dnp_notification_", "dnp_plugin_", "dnp_content_", "dnp_integrity_", "aiq_background_refresh_",
           "dnp_telemetry_events_", "dnp_telemetry_journal_entries_confirmed_", "dnp_telemetry_ledger_sequence")
# Of these families there are gauges, which fall.
GAUGES = ("_open_cycles", "_open_runs", "_pending", "_pending_limit", "_pending_near_limit", "_timestamp_seconds",
          "_ledger_sequence_time")


class Record:
    """What was offered to the service, and what of it was acknowledged, by the events' own ids."""

    def __init__(self):
        self.lock = threading.Lock()
        self.offered, self.acknowledged = {}, set()

    def offer(self, ids):
        with self.lock:
            for one in ids:
                self.offered.setdefault(one, len(self.offered))

    def acknowledge(self, ids):
        with self.lock:
            self.acknowledged.update(ids)

    def snapshot(self):
        """The ids offered, in their order, and those acknowledged."""
        with self.lock:
            return dict(self.offered), set(self.acknowledged)


def some(ids):
    ids = sorted(ids)
    return ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")


def compare(found, offered, acknowledged, place):
    """Holds the ids that a place has against the record."""
    counts = collections.Counter(found)
    lost = acknowledged - counts.keys()
    doubled = {one for one, count in counts.items() if count > 1}
    foreign = counts.keys() - offered.keys()
    if lost:
        yield f"{len(lost)} acknowledged events are not in the {place}: {some(lost)}"
    if doubled:
        yield f"{len(doubled)} events are in the {place} more than once: {some(doubled)}"
    if foreign:
        yield f"{len(foreign)} events in the {place} were never sent: {some(foreign)}"


def prefix(found, sent, place):
    """Of one client, which waits for each answer: what a place has of it must be the beginning of what it sent."""
    missing = None
    found = set(found)
    for batch in sent:
        have = [one in found for one in batch]
        if any(have) and not all(have):
            yield f"a batch is in the {place} in part: {some(batch)}"
        if any(have) and missing:
            yield f"the {place} lacks {some(missing)}, and has {some(batch)}, which was sent after its answer"
            return
        if not any(have):
            missing = missing or batch


def numbers(sequences, place):
    """Ledger numbers must follow each other without a gap or a repetition."""
    for before, after in zip(sequences, sequences[1:]):
        if after != before + 1:
            yield f"number {after} follows {before} in the {place}"
            return


def journal(entries, ledger_end, lives=1):
    """Each number of a ledger's life must be in the journal once, and each number up to the ledger's end."""
    seen = collections.Counter((entry["DNP_LEDGER"], int(entry["DNP_SEQ"])) for entry in entries)
    repeated = [f"{number} of {life}" for (life, number), count in seen.items() if count > 1]
    if repeated:
        yield f"{len(repeated)} numbers are in the journal more than once: {some(repeated)}"
    missing = set(range(1, ledger_end + 1)) - {number for _, number in seen}
    if missing:
        yield f"{len(missing)} numbers up to {ledger_end} are not in the journal: {some(map(str, missing))}"
    found = {life for life, _ in seen}
    if len(found) > lives:
        yield f"the journal has {len(found)} lives of the ledger, expected {lives}"


class PageWatch:
    """Compares each page with the one before."""

    def __init__(self):
        self.last, self.pages = {}, 0

    def forget(self):
        """After a loss that is allowed."""
        self.last = {}

    def see(self, page):
        self.pages += 1
        kept = {name: value for name, value in page.items() if is_durable(name)}
        for name, value in self.last.items():
            if name not in kept:
                yield f"{name} was {value:.0f}, and is gone"
            elif kept[name] < value:
                yield f"{name} fell from {value:.0f} to {kept[name]:.0f}"
        self.last = kept
        yield from sums(page)


def is_durable(name):
    return name.startswith(DURABLE) and not name.partition("{")[0].endswith(GAUGES)


def total(page, family):
    """The sum of a family's samples."""
    return sum(value for name, value in page.items() if name.partition("{")[0] == family)


def sums(page):
    """A page's own accounts must add up."""
    accepted = total(page, "dnp_telemetry_events_accepted_total")
    received = total(page, "dnp_telemetry_events_received_total")
    others = total(page, "dnp_telemetry_events_duplicate_total") + total(page, "dnp_telemetry_events_rejected_total")
    if received != accepted + others:
        yield f"received {received:.0f}, but accepted {accepted:.0f} and duplicate or rejected {others:.0f}"
    effects = total(page, "dnp_telemetry_accepted_effects_total")
    if effects != accepted:
        yield f"accepted {accepted:.0f}, but the effects add up to {effects:.0f}"
