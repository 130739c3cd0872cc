# SPDX-License-Identifier: Apache-2.0
"""What the devices do. Counts over a time range use the recorded totals, which count a series that starts at 1."""

from grafana_foundation_sdk.models import units

from panels import (
    HIGH_IS_GOOD, NONE_IS_GOOD, bars, columns, count_per_interval, distribution, limit, lines, number, page, quantiles,
    query, share, share_within, stacked, thresholds,
)


def count(event, legend):
    return query(f'sum(round(increase(instance:dnp_lifecycle:total{{event="{event}", $S}}[$__range])))', legend)


def increase(family, label=None):
    """The increase of a counter whose series may start at 1, where PromQL's increase() misses the first event."""
    sum_by = f"sum by ({label}) " if label else "sum"
    now = f"{sum_by}({family}{{$S}})"
    return f"clamp_min({now} - ({sum_by}({family}{{$S}} offset $__range) or 0 * {now}), 0)"


FUNNEL = [
    bars(
        "Prefetch funnel",
        units.Short,
        "Prefetches that reached each stage in the selected time range.",
        count("scheduled", "scheduled"),
        count("executed", "executed"),
        count("success", "success"),
        count("used", "used for notification"),
        count("delivered", "delivered"),
    ).height(8),
    columns(
        "Stages over time",
        "Events of each stage by time of arrival, per hour or longer interval.",
        count_per_interval('instance:dnp_lifecycle:total{event=~"scheduled|executed|success|failure|used", $S}', "event"),
    ).span(16).height(8),
    share(
        number,
        "Success ratio, 1 day",
        "Share of finished attempts that succeeded in the last day. Empty if no attempt finished.",
        'job:dnp_prefetch_success:ratio1d{job=~"$job"}',
    ).thresholds(HIGH_IS_GOOD),
    share(
        number,
        "Success ratio, 7 days",
        "Share of finished attempts that succeeded in the last 7 days. The objective is 95%.",
        'job:dnp_prefetch_success:ratio7d{job=~"$job"}',
    ).thresholds(HIGH_IS_GOOD),
    share(
        number,
        "Use ratio, 1 day",
        "Share of the content prefetched in the last day that a notification used.",
        'job:dnp_prefetch_use:ratio1d{job=~"$job"}',
    ).thresholds(HIGH_IS_GOOD),
    share(
        number,
        "Use ratio, 7 days",
        "Share of the content prefetched in the last 7 days that a notification used.",
        'job:dnp_prefetch_use:ratio7d{job=~"$job"}',
    ).thresholds(HIGH_IS_GOOD),
    number("Open cycles", units.Short, "Cycles that are not closed yet.", "sum(dnp_prefetch_open_cycles{$S})"),
    number(
        "Time since last success",
        units.Seconds,
        "Time since the last successful prefetch, by the device's clock. Empty before the first success.",
        "time() - max(dnp_prefetch_success_timestamp_seconds{$S} > 0)",
    ).thresholds(thresholds("green", (86400, "orange"), (172800, "red"))),
    limit(
        share(
            lines,
            "Success ratio",
            "Share of finished attempts that succeeded, per window. No line where no attempt finished.",
            query('job:dnp_prefetch_success:ratio1h{job=~"$job"}', "1 hour"),
            query('job:dnp_prefetch_success:ratio1d{job=~"$job"}', "1 day"),
            query('job:dnp_prefetch_success:ratio7d{job=~"$job"}', "7 days"),
        ).span(12),
        "red", (0.8, "orange"), (0.95, "green"),
    ),
    share(
        lines,
        "Use ratio",
        "Share of prefetched content that a notification used, per window.",
        query('job:dnp_prefetch_use:ratio1h{job=~"$job"}', "1 hour"),
        query('job:dnp_prefetch_use:ratio1d{job=~"$job"}', "1 day"),
        query('job:dnp_prefetch_use:ratio7d{job=~"$job"}', "7 days"),
    ).span(12),
]

OUTCOMES = [
    columns(
        "Failures by reason",
        "Failed attempts by reason, per hour or longer interval.",
        count_per_interval("instance:dnp_prefetch_failure:total{$S}", "reason"),
    ),
    stacked(
        share(
            lines,
            "Failure share by reason, 7 days",
            "Share of each reason in the failures of the last 7 days. No line where nothing failed.",
            query('job:dnp_prefetch_failure:share7d{job=~"$job"}', "{{reason}}"),
        ).fill_opacity(50)
    ),
    bars(
        "Plugin errors by code",
        units.Short,
        "Errors that the plugin reported with a code, in the selected time range.",
        query(increase("dnp_plugin_errors_total", "code"), "{{code}}"),
    ),
    columns(
        "Cycle outcomes",
        "Closed cycles by outcome, per hour or longer interval.",
        count_per_interval("instance:dnp_prefetch_cycles:total{$S}", "outcome"),
    ),
    bars(
        "Deliveries by content",
        units.Short,
        "Notifications delivered in the selected time range, by the content they showed.",
        query(increase("dnp_notification_delivered_total", "content"), "{{content}}"),
    ),
    bars(
        "Exceptional events",
        units.Short,
        "Counts in the selected time range: tasks that the system expired, missed windows, retries, leads raised to "
        "60 s, content fetched on demand, and content that could not be cached.",
        query(increase("dnp_prefetch_expired_total"), "expired"),
        query(increase("dnp_prefetch_missed_window_total"), "missed window"),
        query(increase("dnp_prefetch_retries_total"), "retry"),
        query(increase("dnp_prefetch_lead_capped_total"), "lead raised"),
        query(increase("dnp_prefetch_fallback_total"), "fallback"),
        query(increase("dnp_content_cache_failures_total"), "cache failure"),
    ),
]

DELAY = "dnp_prefetch_start_delay_seconds"
DRIFT = "dnp_notification_drift_seconds"
DELAYS = [
    share(
        number,
        "Started within 15 minutes",
        "Share of prefetches in the selected time range that the system started at most 15 minutes late.",
        share_within(DELAY, 900),
    ).height(7).thresholds(HIGH_IS_GOOD),
    limit(
        lines(
            "Start delay, 1 day",
            units.Seconds,
            "Time from the earliest begin date to the execution, over the preceding day. The line marks the limit of "
            "15 minutes. Values appear about 15 minutes after the delivery, when the cycle closes.",
            *quantiles(DELAY, "1d"),
        ),
        "green", (900, "red"),
    ),
    distribution("Start delay distribution", units.Seconds, "Prefetches by start delay.", DELAY + "_bucket"),
    share(
        number,
        "Delivered within 180 s",
        "Share of notifications in the selected time range that were delivered at most 180 s from the scheduled time.",
        share_within(DRIFT, 180),
    ).height(7).thresholds(HIGH_IS_GOOD),
    limit(
        lines(
            "Notification drift, 1 day",
            units.Seconds,
            "Distance of deliveries from the scheduled time, early or late, over the preceding day. The line marks "
            "180 s.",
            *quantiles(DRIFT, "1d"),
        ),
        "green", (180, "red"),
    ),
    distribution("Notification drift distribution", units.Seconds, "Notifications by drift.", DRIFT + "_bucket"),
    limit(
        lines(
            "Fetch duration, 1 day",
            units.Seconds,
            "Duration of fetches, over the preceding day. The operating system ends a task after about 30 s.",
            *quantiles("dnp_prefetch_fetch_duration_seconds", "1d"),
        ).span(12),
        "green", (30, "red"),
    ),
    lines(
        "Content age at delivery, 1 day",
        units.Seconds,
        "Age of prefetched content when a notification used it, over the preceding day.",
        *quantiles("dnp_prefetch_content_age_seconds", "1d"),
    ).span(12),
]

INTEGRITY = [
    number(
        "Integrity mismatches",
        units.Short,
        "Cycles in the selected time range whose content or schedule hash changed on the device. MD5 detects "
        "corruption, not tampering.",
        'sum(round(increase(instance:dnp_integrity_checks:total{result="mismatch", $S}[$__range])))',
    ).height(7).thresholds(NONE_IS_GOOD),
    bars(
        "Integrity checks",
        units.Short,
        "Closed cycles in the selected time range by result of the hash comparison; unchecked if a hash was missing.",
        query(
            "sum by (check, result) (round(increase(instance:dnp_integrity_checks:total{$S}[$__range])))",
            "{{check}}: {{result}}",
        ),
        query(increase("dnp_telemetry_integrity_unchecked_total", "check"), "{{check}}: unchecked"),
    ),
    bars(
        "Violations",
        units.Short,
        "Closed cycles in the selected time range that violated a rule. missed_window, executed_after_notification, "
        "drift_exceeded and expired come from the operating system's timing; those of bucket B (docs/lifecycle.md) "
        "from the plugin's logic. All others are bugs, unless events were lost in transit.",
        query(
            "sort_desc(sum by (violation) (round(increase("
            "instance:dnp_prefetch_sequence_violations:total{$S}[$__range]))))",
            "{{violation}}",
        ),
    ).span(12).height(10),
]


def success_ratio(label):
    success = increase("dnp_prefetch_success_total", label)
    failure = increase("dnp_prefetch_failure_total", label)
    return f"{success} / ({success} + {failure} > 0)"


def clients(label, name):
    note = f" Only a service that runs with `--label {label}` splits this."
    return [
        bars(
            f"Scheduled by {name}",
            units.Short,
            f"Prefetches scheduled in the selected time range, by {name}." + note,
            query(increase("dnp_prefetch_scheduled_total", label), "{{" + label + "}}"),
        ),
        share(
            bars,
            f"Success ratio by {name}",
            f"Share of attempts finished in the selected time range that succeeded, by {name}." + note,
            query(success_ratio(label), "{{" + label + "}}"),
        ).thresholds(HIGH_IS_GOOD),
        bars(
            f"Failures by {name}",
            units.Short,
            f"Failed attempts in the selected time range, by {name} and reason." + note,
            query(
                increase("dnp_prefetch_failure_total", f"{label}, reason") + " > 0",
                "{{" + label + "}} {{reason}}",
            ),
        ),
    ]


DASHBOARD = page(
    "dnp-telemetry-lifecycle",
    "DNP prefetch lifecycle",
    "Prefetches from schedule to notification. Requires the recording rules in deploy/prometheus/rules/recording.yml.",
    "now-7d",
    [
        ("Funnel", FUNNEL),
        ("Failures and outcomes", OUTCOMES),
        ("Delays and drift", DELAYS),
        ("Integrity and violations", INTEGRITY),
        ("Platforms and versions", clients("platform", "platform") + clients("app_version", "version")),
    ],
)
