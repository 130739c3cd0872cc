# SPDX-License-Identifier: Apache-2.0
"""Events of every kind that dashboards and rules query, with current times."""

import json
import time

CYCLES = 60
RUNS = 40
VERSIONS = ("2.0", "2.1", "2.2")
REASONS = ("NETWORK", "AUTH", "SYSTEM", "OTHER")
CODES = ("notifications_denied", "invalid_time_format", "scheduling_failed", "task_scheduling_failed", "E_STRANGE")
SKIPS = ("NOT_AUTHENTICATED", "NO_NETWORK", "TOO_RECENT")
NOTIFICATIONS = (
    ("notification_sent", {}),
    ("notification_failed", {}),
    ("notification_skipped", {"reason": "NOT_AUTHORIZED"}),
    ("notification_skipped", {"reason": "ALREADY_NOTIFIED", "daysSinceNotification": 7}),
)


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def cycle(index, now):
    """One prefetch from its schedule to its notification; some fail, start late, drift or change on the way."""
    begin = now - 7200 + index * 30
    due = begin + 720
    hashes = {"scheduleHash": f"{index:032x}"}
    device = {
        "scheduleId": f"check-{index}",
        "installationId": f"device-{index}",
        "platform": ("ios", "android")[index % 2],
        "appVersion": VERSIONS[index % 3],
    }
    start = begin + 420 + (200 if index % 5 == 0 else 2)
    events = [
        ("prefetch_scheduled", begin, {"scheduledFor": stamp(due), "earliestBeginDate": stamp(begin + 420), **hashes}),
        ("prefetch_executed", start, hashes),
    ]
    if index % 10 == 9:
        events += [
            ("prefetch_failure", start + 3, {"reason": REASONS[index // 10 % 4], "willRetry": False}),
            ("content_missing", due, {}),
            ("notification_delivered", due + 1, {}),
        ]
    else:
        content = {"contentHash": f"{index:032x}"}
        used = {"contentHash": f"{index + (1 if index % 30 == 0 else 0):032x}", "age": due - start - 2}
        if index % 7 == 3:
            events.append(("prefetch_failure", start + 1, {"reason": "NETWORK", "willRetry": True}))
        events += [
            ("prefetch_success", start + 2, {"duration_ms": 1500 + 40 * index, "ttl": 86400}),
            ("content_cached", start + 2, content),
            ("prefetch_used_for_notification", due, used),
            ("notification_delivered", due + (200 if index % 15 == 1 else 2), {}),
        ]
    return [{"event": kind, "timestamp": stamp(at), **device, **more} for kind, at, more in events]


def oddities(now):
    """Rare events, once each."""
    at = {"timestamp": stamp(now - 600)}
    for number, code in enumerate(CODES):
        yield {"event": "prefetch_schedule_failed", "scheduleId": f"code-{number}", "error": code, **at}
    for kind in (
        "lead_capped", "prefetch_scheduled", "prefetch_missed", "prefetch_executed", "prefetch_expired",
        "content_cache_failed",
    ):
        yield {"event": kind, "scheduleId": "odd", "platform": "ios", "appVersion": "2.2", **at}
    yield {"event": "prefetch_cycle_complete", "scheduleId": "summed-up", "fetched": True, "usedCached": True, **at}
    yield {
        "event": "telemetry_snapshot",
        "installationId": "another device",
        "telemetry": {"dnp_prefetch_scheduled_total": 2, "dnp_prefetch_executed_total": 2},
        **at,
    }
    yield {"event": "prefetch_scheduled", "scheduleId": "s", "colour": "an unknown field", **at}
    yield {"event": "prefetch_executed", "scheduleId": "too early", "timestamp": "1999-01-01T00:00:00Z"}


def run(index, now):
    """One background refresh; some are skipped, fail, expire, never end, notify too soon or cannot schedule the next."""
    begin, days, seconds = now - 7200 + index * 60, 60 + 2 * index, 22 if index == 39 else 1 + index / 4
    events = [("started", begin, {})]
    if index % 10 == 4:
        events.append(("skipped", begin, {"reason": SKIPS[index // 10 % 3]}))
    elif index == 7:
        events.append(("expired", begin + 30, {}))
    elif index != 27:
        events.append(("checked", begin + 1, {"daysSinceTest": days, "available": days >= 90}))
        if days >= 90 or index == 5:
            kind, properties = NOTIFICATIONS[0 if index == 5 else index % 4]
            events.append((kind, begin + 1, properties))
        events.append(("completed", begin + seconds, {"success": index != 17, "durationSeconds": seconds}))
    events.append(("schedule_failed", begin + 31, {}) if index == 33 else ("scheduled", begin + 31, {"hours": 4}))
    device = {"installationId": f"refreshing-{index}"}
    # A histogram of a new version begins at its first observations, and increase() misses those; some have no version.
    if index % 2:
        device |= {"platform": "ios", "appVersion": VERSIONS[index % 3]}
    return [
        {"event": f"refresh_{kind}", "timestamp": stamp(at), **device, "properties": properties}
        for kind, at, properties in events
    ]


def batch(now):
    """The body of a request, with the sender's clock 3 s slow."""
    events = [event for index in range(CYCLES) for event in cycle(index, now)] + list(oddities(now))
    events += [event for index in range(RUNS) for event in run(index, now)]
    return json.dumps({"events": events, "sentAt": stamp(now - 3)}).encode()
