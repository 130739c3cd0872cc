# SPDX-License-Identifier: Apache-2.0
"""What phones send: whole cycles of five hours ago, and loads."""

import datetime
import json


def stamp(hours=0.0, seconds=0.0):
    """RFC 3339, so long before now."""
    at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours, seconds=seconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cycles(count):
    """Cycles of several platforms, versions and outcomes; every fifth fetch fails, every sixth delivery is late."""
    for index in range(count):
        due = 4 + index / 60
        shared = {"scheduleId": f"notif-{index}", "installationId": f"phone-{index % 3}", "scheduledFor": stamp(due),
                  "platform": ("ios", "android")[index % 2], "appVersion": f"1.4.{index % 3}"}

        def event(kind, hours=due, seconds=0, **members):
            return {"event": kind, "timestamp": stamp(hours, seconds), **shared, **members}

        yield event("prefetch_scheduled", due + 1, earliestBeginDate=stamp(due, 300))
        yield event("prefetch_executed", seconds=290)
        if index % 5 == 4:
            yield event("prefetch_failure", seconds=280, reason=("NETWORK", "AUTH", "SYSTEM")[index // 5 % 3])
            yield event("content_missing")
        else:
            yield event("prefetch_success", seconds=285, duration_ms=1000 + index, ttl=86400)
            if index % 7:
                yield event("prefetch_used_for_notification")
        yield event("notification_delivered", seconds=-600 if index % 6 == 0 else -2)


def batch(first, count, prefix="load"):
    """Lines of NDJSON of events that open cycles of their own."""
    now, due = stamp(), stamp(-1)
    lines = (json.dumps({"event": "prefetch_scheduled", "scheduleId": f"{prefix}-{index}", "timestamp": now,
                         "scheduledFor": due, "platform": "ios"}) for index in range(first, first + count))
    return "\n".join(lines).encode()
