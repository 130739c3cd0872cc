# SPDX-License-Identifier: Apache-2.0
"""What the background refresh of the second app does. Counts use the recorded totals, which exist at 0 from the start."""

from grafana_foundation_sdk.models import units

from panels import (
    HIGH_IS_GOOD, NONE_IS_GOOD, bars, columns, count_per_interval, distribution, limit, lines, number, page, quantiles,
    query, share, share_within, thresholds,
)

RUNS = "instance:aiq_background_refresh_runs:total"
SCHEDULES = "instance:aiq_background_refresh_schedules:total"
NOTIFICATIONS = "instance:aiq_background_refresh_notifications:total"
VIOLATIONS = "instance:aiq_background_refresh_violations:total"
DURATION = "aiq_background_refresh_duration_seconds"
DAYS = "aiq_background_refresh_days_since_test"
EXPIRED_IS_BAD = thresholds("green", (0.05, "orange"), (0.2, "red"))


def by(label, series):
    counts = f"sum by ({label}) (round(increase({series}{{$S}}[$__range])))"
    return query(counts, "{{" + label + "}}")


def violations(kinds):
    return f'sum(round(increase({VIOLATIONS}{{violation=~"{kinds}", $S}}[$__range])))'


RUNS_ROW = [
    bars(
        "Runs by outcome",
        units.Short,
        "Background refreshes in the selected time range by how they ended. Skipped ones did not refresh; of incomplete "
        "ones the end was not seen.",
        by("outcome", RUNS),
    ).height(8),
    columns(
        "Runs over time",
        "Background refreshes by outcome, per hour or longer interval.",
        count_per_interval(RUNS + "{$S}", "outcome"),
    ).span(16).height(8),
    share(
        number,
        "Completed, 1 day",
        "Share of the last day's runs that completed, of those that were not skipped. Empty if there were none.",
        'job:aiq_background_refresh_success:ratio1d{job=~"$job"}',
    ).thresholds(HIGH_IS_GOOD),
    share(
        number,
        "Completed, 7 days",
        "Share of the runs of the last 7 days that completed, of those that were not skipped.",
        'job:aiq_background_refresh_success:ratio7d{job=~"$job"}',
    ).thresholds(HIGH_IS_GOOD),
    share(
        number,
        "Expired, 1 day",
        "Share of the last day's runs that the operating system ended, of those that were not skipped.",
        'job:aiq_background_refresh_expired:ratio1d{job=~"$job"}',
    ).thresholds(EXPIRED_IS_BAD),
    share(
        number,
        "Ended within 20 s",
        "Share of the runs in the selected time range that took at most 20 s, of those that reported a duration.",
        share_within(DURATION, 20),
    ).thresholds(HIGH_IS_GOOD),
    number(
        "Open runs",
        units.Short,
        "Runs whose outcome is not counted yet.",
        "sum(aiq_background_refresh_open_runs{$S})",
    ).span(8),
    share(
        lines,
        "Completed and expired, 1 day",
        "Share of the preceding day's runs that completed, and that the operating system ended, of those that were not "
        "skipped. No line where there were none.",
        query('job:aiq_background_refresh_success:ratio1d{job=~"$job"}', "completed"),
        query('job:aiq_background_refresh_expired:ratio1d{job=~"$job"}', "expired"),
    ).height(10),
    bars(
        "Skipped runs by reason",
        units.Short,
        "Runs in the selected time range that were skipped: the user was not signed in, the device was offline, or the "
        "last refresh was too recent.",
        by("reason", "instance:aiq_background_refresh_skipped:total"),
    ).height(10),
    bars(
        "Refresh violations",
        units.Short,
        "Runs in the selected time range that broke a rule. expired comes from the operating system; next_not_scheduled "
        "and ran_too_long from the app's logic. All others are bugs, unless events were lost in transit.",
        query(f"sort_desc(sum by (violation) (round(increase({VIOLATIONS}{{$S}}[$__range]))))", "{{violation}}"),
    ).height(10),
    limit(
        lines(
            "Run duration, 1 day",
            units.Seconds,
            "Duration of runs over the preceding day. The target is 20 s; the operating system ends a run after about "
            "30 s.",
            *quantiles(DURATION, "1d"),
        ).span(12),
        "green", (20, "orange"), (30, "red"),
    ),
    distribution("Run duration distribution", units.Seconds, "Runs by duration.", DURATION + "_bucket"),
]

NOTIFICATIONS_ROW = [
    bars(
        "Notifications by result",
        units.Short,
        "Notifications of an available test in the selected time range: sent, failed, not permitted by the user, or "
        "unnecessary because the user was notified before.",
        by("result", NOTIFICATIONS),
    ),
    columns(
        "Notifications over time",
        "Notifications by result, per hour or longer interval.",
        count_per_interval(NOTIFICATIONS + "{$S}", "result"),
    ),
    number(
        "Notified too soon",
        units.Short,
        "Runs in the selected time range that notified the user before a test was due, or twice within 90 days.",
        violations("notified_too_soon|notified_again"),
    ).height(7).thresholds(NONE_IS_GOOD),
    number(
        "Not notified",
        units.Short,
        "Runs in the selected time range that found a test available and did not notify the user, for no known reason.",
        violations("not_notified"),
    ).height(7).thresholds(NONE_IS_GOOD),
]

CADENCE_ROW = [
    bars(
        "Requests for the next run",
        units.Short,
        "Requests in the selected time range to schedule the next run, by result.",
        by("result", SCHEDULES),
    ),
    columns(
        "Requests over time",
        "Requests to schedule the next run by result, per hour or longer interval.",
        count_per_interval(SCHEDULES + "{$S}", "result"),
    ),
    number(
        "Refreshed too soon",
        units.Short,
        "Runs in the selected time range that refreshed less than 4 hours after the last successful one.",
        violations("refreshed_too_soon"),
    ).height(7).thresholds(NONE_IS_GOOD),
    number(
        "Next run not scheduled",
        units.Short,
        "Runs in the selected time range after which no next run was requested.",
        violations("next_not_scheduled"),
    ).height(7).thresholds(NONE_IS_GOOD),
    bars(
        "Checks by availability",
        units.Short,
        "Checks in the selected time range, by whether a test was available.",
        query(
            "sum by (available) (round(increase(instance:aiq_background_refresh_checks:total{$S}[$__range])))",
            "available: {{available}}",
        ),
    ),
    limit(
        lines(
            "Days since the last test, 1 day",
            units.Days,
            "Days since the user's last test, as checks of the preceding day reported. A test is due from day 90 on.",
            *quantiles(DAYS, "1d"),
        ),
        "blue", (90, "orange"),
    ),
    distribution(
        "Days since the last test, distribution", units.Days, "Checks by days since the last test.", DAYS + "_bucket"
    ).span(8),
]

DASHBOARD = page(
    "dnp-telemetry-refresh",
    "AIQ background refresh",
    "Background refreshes of the second app. Empty where the setting apps lacks aiq. Requires the recording rules in "
    "deploy/prometheus/rules/recording.yml.",
    "now-7d",
    [("Runs", RUNS_ROW), ("Notifications", NOTIFICATIONS_ROW), ("Cadence", CADENCE_ROW)],
)
