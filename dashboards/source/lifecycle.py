# SPDX-License-Identifier: Apache-2.0
"""What the devices do. Counts of a time use the recorded totals, which lose no series that is born at 1."""

from grafana import bars, columns, dashboard, heatmap, lines, query, stat

SHARE = {"min": 0, "max": 1}
GOOD = [(None, "red"), (0.8, "orange"), (0.95, "green")]
BAD = [(None, "green"), (1, "red")]


def counted(event, legend=""):
    return query(f'sum(round(increase(instance:dnp_lifecycle:total{{event="{event}", $S}}[$__range])))', legend)


def hourly(expression, legend):
    return query(f"sum by ({legend}) (round(increase({expression}[$__interval])))", "{{" + legend + "}}")


def over_range(family, label=None):
    """What a family rose by, by a label whose series may be born at 1."""
    sum_by = f"sum by ({label}) " if label else "sum"
    now = f"{sum_by}({family}{{$S}})"
    return f"clamp_min({now} - ({sum_by}({family}{{$S}} offset $__range) or 0 * {now}), 0)"


def quantiles(bucket, window="1d"):
    return [
        query(f"histogram_quantile({q}, sum by (le) (increase({bucket}{{$S}}[{window}])))", name)
        for q, name in ((0.5, "half"), (0.9, "9 in 10"), (0.99, "99 in 100"))
    ]


def within(family, bound):
    """The share of observations up to a bound, which OpenMetrics writes as 900.0 and the text format as 900."""
    return f"""
        sum(increase({family}_bucket{{le=~"{bound}([.]0)?", $S}}[$__range]))
          / (sum(increase({family}_count{{$S}}[$__range])) > 0)
    """


FUNNEL = [
    bars(
        "How far they came",
        "short",
        "How many prefetches of the time that is looked at came to each stage.",
        [
            counted("scheduled", "scheduled"),
            counted("executed", "executed"),
            counted("success", "success"),
            counted("used", "used for the notification"),
            counted("delivered", "delivered"),
        ],
        height=8,
    ),
    columns(
        "Stages over time",
        "short",
        "Events of each stage as they arrived, in an hour or more.",
        [hourly('instance:dnp_lifecycle:total{event=~"scheduled|executed|success|failure|used", $S}', "event")],
        width=16,
        height=8,
    ),
    stat(
        "Success ratio, 1 day",
        "percentunit",
        "Of the attempts that ended in the last day, the share that succeeded; empty while none ended.",
        'job:dnp_prefetch_success:ratio1d{job=~"$job"}',
        steps=GOOD,
        **SHARE,
    ),
    stat(
        "Success ratio, 7 days",
        "percentunit",
        "Of the attempts that ended in the last week, the share that succeeded. The objective is 95%.",
        'job:dnp_prefetch_success:ratio7d{job=~"$job"}',
        steps=GOOD,
        **SHARE,
    ),
    stat(
        "Use ratio, 1 day",
        "percentunit",
        "Of the content that was prefetched in the last day, the share that a notification used.",
        'job:dnp_prefetch_use:ratio1d{job=~"$job"}',
        steps=GOOD,
        **SHARE,
    ),
    stat(
        "Use ratio, 7 days",
        "percentunit",
        "Of the content that was prefetched in the last week, the share that a notification used.",
        'job:dnp_prefetch_use:ratio7d{job=~"$job"}',
        steps=GOOD,
        **SHARE,
    ),
    stat("Open cycles", "short", "Cycles that are not closed yet.", "sum(dnp_prefetch_open_cycles{$S})"),
    stat(
        "Since the last success",
        "s",
        "Time since the last prefetch that succeeded, by the device's clock; empty while there was none.",
        "time() - max(dnp_prefetch_success_timestamp_seconds{$S} > 0)",
        steps=[(None, "green"), (86400, "orange"), (172800, "red")],
    ),
    lines(
        "Success ratio",
        "percentunit",
        "Of the attempts that ended in a window, the share that succeeded; no line where none ended.",
        [
            query('job:dnp_prefetch_success:ratio1h{job=~"$job"}', "1 hour"),
            query('job:dnp_prefetch_success:ratio1d{job=~"$job"}', "1 day"),
            query('job:dnp_prefetch_success:ratio7d{job=~"$job"}', "7 days"),
        ],
        width=12,
        steps=GOOD,
        **SHARE,
    ),
    lines(
        "Use ratio",
        "percentunit",
        "Of the content that was prefetched in a window, the share that a notification used.",
        [
            query('job:dnp_prefetch_use:ratio1h{job=~"$job"}', "1 hour"),
            query('job:dnp_prefetch_use:ratio1d{job=~"$job"}', "1 day"),
            query('job:dnp_prefetch_use:ratio7d{job=~"$job"}', "7 days"),
        ],
        width=12,
        **SHARE,
    ),
]

REASONS = [
    columns(
        "Failures by reason",
        "short",
        "Attempts that failed, by reason, in an hour or more.",
        [hourly("instance:dnp_prefetch_failure:total{$S}", "reason")],
    ),
    lines(
        "Share of each reason, 7 days",
        "percentunit",
        "Of the failures of the last week, the share of each reason; no line where nothing failed.",
        [query('job:dnp_prefetch_failure:share7d{job=~"$job"}', "{{reason}}")],
        style={"stacking": {"mode": "normal", "group": "A"}, "fillOpacity": 50},
        **SHARE,
    ),
    bars(
        "Plugin errors by code",
        "short",
        "Errors that the plugin told of by their code, in the time that is looked at.",
        [query(over_range("dnp_plugin_errors_total", "code"), "{{code}}")],
    ),
    columns(
        "Outcomes",
        "short",
        "Cycles that were closed, by their outcome, in an hour or more.",
        [hourly("instance:dnp_prefetch_cycles:total{$S}", "outcome")],
    ),
    bars(
        "Deliveries by content",
        "short",
        "Notifications that were delivered in the time that is looked at, by what they showed.",
        [query(over_range("dnp_notification_delivered_total", "content"), "{{content}}")],
    ),
    bars(
        "What went otherwise",
        "short",
        "Prefetches that the system ended, that missed their window, that were tried again, whose lead was raised to "
        "60 s, and content that had to be fetched on demand or could not be cached, in the time that is looked at.",
        [
            query(over_range("dnp_prefetch_expired_total"), "expired"),
            query(over_range("dnp_prefetch_missed_window_total"), "window missed"),
            query(over_range("dnp_prefetch_retries_total"), "tried again"),
            query(over_range("dnp_prefetch_lead_capped_total"), "lead raised"),
            query(over_range("dnp_prefetch_fallback_total"), "fetched on demand"),
            query(over_range("dnp_content_cache_failures_total"), "not cached"),
        ],
    ),
]

DELAY = "dnp_prefetch_start_delay_seconds"
DRIFT = "dnp_notification_drift_seconds"
DELAYS = [
    stat(
        "Started within 15 minutes",
        "percentunit",
        "Of the prefetches of the time that is looked at, the share that the system started at most 15 minutes late.",
        within(DELAY, 900),
        height=7,
        steps=GOOD,
        **SHARE,
    ),
    lines(
        "Start delay, 1 day",
        "s",
        "From the earliest begin to the execution, over the day before each moment; the line is the limit of 15 "
        "minutes. It follows a delivery by a quarter of an hour, because a cycle is measured when it closes.",
        quantiles(DELAY + "_bucket"),
        steps=[(None, "green"), (900, "red")],
    ),
    heatmap("Start delays", "s", "How many prefetches started how late.", DELAY + "_bucket", width=12),
    stat(
        "Delivered within 180 s",
        "percentunit",
        "Of the notifications of the time that is looked at, the share that came at most 180 s from their time.",
        within(DRIFT, 180),
        height=7,
        steps=GOOD,
        **SHARE,
    ),
    lines(
        "Drift, 1 day",
        "s",
        "How far from their time notifications came, early or late, over the day before each moment; the line is at "
        "180 s.",
        quantiles(DRIFT + "_bucket"),
        steps=[(None, "green"), (180, "red")],
    ),
    heatmap("Drifts", "s", "How many notifications came how far from their time.", DRIFT + "_bucket", width=12),
    lines(
        "Fetch duration, 1 day",
        "s",
        "How long fetches took, over the day before each moment. The system ends a task after about 30 s.",
        quantiles("dnp_prefetch_fetch_duration_seconds_bucket"),
        steps=[(None, "green"), (30, "red")],
        width=12,
    ),
    lines(
        "Content age at delivery, 1 day",
        "s",
        "How old prefetched content was when a notification used it, over the day before each moment.",
        quantiles("dnp_prefetch_content_age_seconds_bucket"),
        width=12,
    ),
]

INTEGRITY = [
    stat(
        "Mismatches",
        "short",
        "Cycles of the time that is looked at whose hash of content or schedule changed on the device. MD5 finds "
        "corruption, not tampering.",
        'sum(round(increase(instance:dnp_integrity_checks:total{result="mismatch", $S}[$__range])))',
        height=7,
        steps=BAD,
    ),
    bars(
        "Integrity checks",
        "short",
        "Closed cycles whose hashes were compared, and those that told none, in the time that is looked at.",
        [
            query(
                "sum by (check, result) (round(increase(instance:dnp_integrity_checks:total{$S}[$__range])))",
                "{{check}}: {{result}}",
            ),
            query(over_range("dnp_telemetry_integrity_unchecked_total", "check"), "{{check}}: unchecked"),
        ],
    ),
    bars(
        "Violations",
        "short",
        "Closed cycles of the time that is looked at that broke a rule. missed_window, executed_after_notification, "
        "drift_exceeded and expired are the system's own timing; lead_below_minimum and next_not_scheduled the "
        "plugin's logic; all others are bugs, unless events were lost on the way.",
        [
            query(
                "sort_desc(sum by (violation) (round(increase("
                "instance:dnp_prefetch_sequence_violations:total{$S}[$__range]))))",
                "{{violation}}",
            )
        ],
        width=12,
        height=10,
    ),
]


def share_by(label):
    """Of the attempts that ended, the share that succeeded, by a label."""
    success = over_range("dnp_prefetch_success_total", label)
    failure = over_range("dnp_prefetch_failure_total", label)
    return f"{success} / ({success} + {failure} > 0)"


def clients(label, name):
    note = f" Told apart where the service runs with --label {label}."
    return [
        bars(
            f"Scheduled by {name}",
            "short",
            f"Prefetches that were scheduled in the time that is looked at, by {name}." + note,
            [query(over_range("dnp_prefetch_scheduled_total", label), "{{" + label + "}}")],
        ),
        bars(
            f"Success ratio by {name}",
            "percentunit",
            f"Of the attempts that ended in the time that is looked at, the share that succeeded, by {name}." + note,
            [query(share_by(label), "{{" + label + "}}")],
            steps=GOOD,
            **SHARE,
        ),
        bars(
            f"Failures by {name}",
            "short",
            f"Attempts that failed in the time that is looked at, by {name} and reason." + note,
            [
                query(
                    over_range("dnp_prefetch_failure_total", f"{label}, reason") + " > 0",
                    "{{" + label + "}} {{reason}}",
                )
            ],
        ),
    ]


DASHBOARD = dashboard(
    "dnp-telemetry-lifecycle",
    "DNP prefetch lifecycle",
    "Prefetches from their schedule to the notification. Needs the rules of deploy/prometheus/rules/recording.yml.",
    "now-7d",
    [
        ("Funnel", FUNNEL),
        ("Reasons and outcomes", REASONS),
        ("Delays and drift", DELAYS),
        ("Integrity and violations", INTEGRITY),
        ("Platforms and versions", clients("platform", "platform") + clients("app_version", "version")),
    ],
)
