# SPDX-License-Identifier: Apache-2.0
"""A made-up fleet: what 240 phones tell in two days, the same at each run.

Most prefetches go well. The others fail, come late, miss their window or break a rule, about as often as a real fleet's.
"""

import collections
import datetime
import random

SEED = 20261124
DEVICES = 240
REFRESHING = 60
BEGIN = datetime.datetime(2026, 11, 22, 4, 0, tzinfo=datetime.timezone.utc)
# The pictures are taken at 07:42 in Berlin, in the morning's rush.
END = datetime.datetime(2026, 11, 24, 6, 42, 20, tzinfo=datetime.timezone.utc)
LEAD_SECONDS = 1800
DAY = 86400

# The schedule of the cycle whose page is shown.
SHOWN_SCHEDULE = "daily-2026-11-23"

PHONES = [
    ("ios", "2.4.1", "26.1", "iPhone16,2"),
    ("ios", "2.4.1", "18.7", "iPhone15,2"),
    ("ios", "2.5.0", "26.1", "iPhone17,1"),
    ("android", "2.4.1", "15", "Pixel 8 Pro"),
    ("android", "2.5.0", "16", "SM-S931B"),
]

Course = collections.namedtuple("Course", "weight play")


def stamp(seconds):
    return (BEGIN + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Phone:
    """A phone that plays one cycle a day, and what it has told: pairs of seconds and event."""

    def __init__(self, number, chance):
        self.id = f"phone-{number:03}"
        self.chance = chance
        self.told = []
        platform, version, system, model = chance.choices(PHONES, [30, 22, 14, 20, 14])[0]
        self.about = {"platform": platform, "appVersion": version, "osVersion": system, "deviceModel": model}
        hour = chance.choices([chance.uniform(4.8, 7.6), chance.uniform(15.5, 19.5), chance.uniform(8, 15)], [60, 26, 14])[0]
        self.daily = round((hour - BEGIN.hour) * 12) * 300

    def tell(self, at, kind, **fields):
        named = {"event": kind, "timestamp": stamp(at), "installationId": self.id, **self.about, **fields}
        self.told.append((at, named))

    def cycle(self, day, play):
        due = self.daily + day * DAY
        date = (BEGIN + datetime.timedelta(seconds=due)).date().isoformat()
        Cycle(self, f"notif-{date}", due, self.chance).play(play)


class Cycle:
    """A cycle of a phone, told step by step."""

    def __init__(self, phone, schedule, due, chance):
        self.phone, self.due, self.chance = phone, due, chance
        self.named = {"scheduleId": schedule, "scheduledFor": stamp(due)}
        self.begin = due - LEAD_SECONDS
        self.ran = self.begin + min(870, chance.lognormvariate(4.1, 1.1))

    def tell(self, at, kind, **fields):
        self.phone.tell(at, kind, **self.named, **fields)

    def play(self, play):
        # The next task is scheduled right after the delivery of the day before.
        scheduled = max(self.chance.uniform(5, 1500), self.due - DAY + self.chance.uniform(6, 40))
        lead = {"leadMinutes": LEAD_SECONDS // 60}
        self.tell(scheduled, "prefetch_scheduled", earliestBeginDate=stamp(self.begin), **lead)
        play(self)

    def run(self, late=0):
        self.ran += late
        self.tell(self.ran, "prefetch_executed")

    def fetch(self, seconds=None):
        seconds = seconds or self.chance.uniform(0.4, 4)
        end = self.ran + seconds
        self.tell(end, "prefetch_success", fetchDurationMs=round(abs(seconds) * 1000), ttl=DAY)
        self.tell(end + 0.12, "content_cached", bytes=self.chance.randrange(9000, 60000))
        self.tell(end + 0.3, "prefetch_completed")

    def fail(self, after=3, **fields):
        self.tell(self.ran + after, "prefetch_failure", **fields)

    def use(self, drift=None):
        shown = self.due + (drift or min(50, self.chance.lognormvariate(0.4, 1.3)))
        self.tell(shown - 0.05, "prefetch_used_for_notification")
        self.tell(shown, "notification_delivered")

    def fall_back(self):
        shown = self.due + self.chance.uniform(0.5, 9)
        self.tell(shown - 0.4, "content_missing")
        self.tell(shown, "notification_delivered")


def good(cycle):
    cycle.run()
    cycle.fetch()
    cycle.use()


def retried(cycle):
    cycle.run()
    cycle.fail(status=503, willRetry=True)
    cycle.fetch(9)
    cycle.use()


def offline(cycle):
    cycle.run()
    cycle.fail(reason="NETWORK", error="NSURLErrorDomain Code=-1009", willRetry=False)
    cycle.fall_back()


def refused(cycle):
    cycle.run()
    cycle.fail(status=401, willRetry=False)
    cycle.fall_back()


def lost(cycle):
    cycle.run()
    cycle.fail(reason="NETWORK", error="NSURLErrorDomain Code=-1001", willRetry=False)


def never_ran(cycle):
    cycle.fall_back()


def missed(cycle):
    pass


def unseen(cycle):
    cycle.run()
    cycle.fetch()


def late(cycle):
    cycle.run(late=cycle.chance.uniform(950, 1500))
    cycle.fetch()
    cycle.use()


def drifted(cycle):
    cycle.run()
    cycle.fetch()
    cycle.use(cycle.chance.uniform(200, 700))


def expired(cycle):
    cycle.run()
    cycle.tell(cycle.ran + 29.6, "prefetch_expired")
    cycle.fall_back()


def out_of_order(cycle):
    cycle.run()
    cycle.fetch(-cycle.chance.uniform(4, 9))
    cycle.use()


def twice_ended(cycle):
    cycle.run()
    cycle.fetch(2.5)
    cycle.fail(after=2.9, reason="SYSTEM", willRetry=False)
    cycle.use()


def slow(cycle):
    cycle.run()
    cycle.fetch(cycle.chance.uniform(33, 48))
    cycle.use()


COURSES = [
    Course(816, good), Course(30, retried), Course(34, offline), Course(34, refused), Course(14, lost),
    Course(22, never_ran), Course(12, missed), Course(8, unseen), Course(12, late), Course(8, drifted),
    Course(8, expired), Course(6, out_of_order), Course(3, twice_ended), Course(6, slow),
]


def shown_failure(phone, chance):
    """The cycle whose page is shown: started late, offline, tried again, ended by the system, nothing delivered."""
    due = 26 * 3600 + 600
    cycle = Cycle(phone, SHOWN_SCHEDULE, due, chance)
    cycle.tell(due - 7 * 3600, "prefetch_scheduled", earliestBeginDate=stamp(cycle.begin), leadMinutes=30)
    cycle.ran = cycle.begin + 17 * 60 + 12
    cycle.tell(cycle.ran, "prefetch_executed", lowPowerMode=True, network="cellular")
    cycle.tell(cycle.ran + 0.4, "prefetch_started")
    cycle.fail(after=11.5, reason="NETWORK", error="NSURLErrorDomain Code=-1001", willRetry=True)
    cycle.tell(cycle.ran + 29.8, "prefetch_expired")


def refreshes(number, chance):
    """Runs of the second app on one phone."""
    phone = Phone(1000 + number, chance)
    phone.about = {"platform": "ios", "appVersion": "5.1.0"}
    days, at = chance.randrange(20, 86), chance.uniform(600, 14000)
    while at < DAY * 2.5:
        end = at + chance.uniform(1, 9)
        phone.tell(at, "refresh_started")
        outcome = chance.choices(["completed", "skipped", "expired"], [91, 8, 1])[0]
        if outcome == "completed":
            phone.tell(at + 0.2, "refresh_checked", properties={"daysSinceTest": days + int(at // DAY), "available": False})
            phone.tell(end, "refresh_completed", properties={"success": True, "durationSeconds": round(end - at, 2)})
        elif outcome == "skipped":
            phone.tell(at + 0.3, "refresh_skipped", reason=chance.choice(["NO_NETWORK", "NOT_AUTHENTICATED"]))
        else:
            end = at + 29.5
            phone.tell(end, "refresh_expired")
        phone.tell(end + 0.2, "refresh_scheduled", properties={"hours": 4})
        at += 4.1 * 3600 + chance.uniform(0, 5000)
    return phone.told


def events():
    """Every event until the end as (seconds, event), in the order in which they arrive."""
    chance = random.Random(SEED)
    told = []
    for number in range(DEVICES):
        phone = Phone(number, chance)
        for day in range(4):
            phone.cycle(day, chance.choices([each.play for each in COURSES], [each.weight for each in COURSES])[0])
        told += phone.told
    phone = Phone(DEVICES, chance)
    phone.about = dict(zip(["platform", "appVersion", "osVersion", "deviceModel"], PHONES[0]))
    shown_failure(phone, chance)
    told += phone.told
    for number in range(REFRESHING):
        told += refreshes(number, chance)
    end = (END - BEGIN).total_seconds()
    return sorted((each for each in told if each[0] < end - 20), key=lambda each: each[0])
