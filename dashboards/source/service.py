# SPDX-License-Identifier: Apache-2.0
"""What the service does: ingest, ledger, journal, HTTP, scrapes, process."""

from grafana_foundation_sdk.models import units

from panels import NONE_IS_GOOD, bars, label, limit, lines, number, page, quantiles, query, state, thresholds

BALANCED = thresholds("red", (0, "green"), (1, "red"))


def rate(family, labels=None, legend=""):
    """A rate per second, split by labels or summed."""
    sum_by = f"sum by ({labels}) " if labels else "sum"
    legend = " ".join("{{" + one.strip() + "}}" for one in labels.split(",")) if labels else legend
    return query(f"{sum_by}(rate({family}{{$S}}[$__rate_interval]))", legend)


STATE = [
    state(
        "Scrape status",
        "Result of the last scrape.",
        "min(up{$S})",
        {0: ("down", "red"), 1: ("up", "green")},
    ),
    label("Version", "Version of the build.", "count by (version) (dnp_telemetry_build_info{$S})", "{{version}}"),
    number("Uptime", units.Seconds, "Time since the process started.", "min(time() - process_start_time_seconds{$S})"),
    number("Ledger position", units.Short, "Number of the last event.", "sum(dnp_telemetry_ledger_sequence{$S})"),
    state(
        "Configuration reload",
        "Result of the last reload of the configuration.",
        "min(dnp_telemetry_config_last_reload_successful{$S})",
        {0: ("failed", "red"), 1: ("ok", "green")},
    ),
    number(
        "Ingest balance",
        units.Short,
        "received - accepted - duplicate - rejected. Any value but 0 is a bug.",
        """
        sum(dnp_telemetry_events_received_total{$S}) - sum(dnp_telemetry_events_accepted_total{$S})
          - sum(dnp_telemetry_events_duplicate_total{$S}) - sum(dnp_telemetry_events_rejected_total{$S})
        """,
    ).thresholds(BALANCED),
    number(
        "Journal balance",
        units.Short,
        "accepted - confirmed - skipped - pending. Any value but 0 is a bug. Empty without a journal.",
        """
        sum(
          dnp_telemetry_events_accepted_total{$S} - dnp_telemetry_journal_entries_confirmed_total{$S}
            - dnp_telemetry_journal_entries_skipped_total{$S} - dnp_telemetry_journal_pending_entries{$S}
        )
        """,
    ).thresholds(BALANCED),
]

INGEST = [
    lines(
        "Events received",
        units.EventsPerSecond,
        "Events per second by source and format.",
        rate("dnp_telemetry_events_received_total", "source, format"),
    ),
    lines(
        "Ingest results",
        units.EventsPerSecond,
        "Events per second by result, and accepted ones by what they did to the lifecycle's counters.",
        rate("dnp_telemetry_events_accepted_total", legend="accepted"),
        query("sum by (effect) (rate(dnp_telemetry_accepted_effects_total{$S}[$__rate_interval]))", "accepted: {{effect}}"),
        rate("dnp_telemetry_events_duplicate_total", legend="duplicate"),
        rate("dnp_telemetry_events_rejected_total", legend="rejected"),
    ),
    lines(
        "Rejected events by reason",
        units.EventsPerSecond,
        "Rejected events per second by reason.",
        rate("dnp_telemetry_events_rejected_total", "reason"),
    ),
    lines(
        "Log lines by result",
        units.CountsPerSecond,
        "Log lines per second: recognised, foreign, and plugin lines that no rule matches.",
        rate("dnp_telemetry_log_lines_total", "result"),
    ),
    lines(
        "Unknown fields",
        units.CountsPerSecond,
        "Fields per second that were dropped because the vocabulary does not define them.",
        rate("dnp_telemetry_unknown_fields_total", legend="unknown fields"),
    ),
    bars(
        "Recovered and implied events",
        units.Short,
        "Since the start of the ledger: events lost in transit and recovered from client counters, and stages that "
        "only a cycle summary reported.",
        query("sum by (stage) (dnp_telemetry_recovered_events_total{$S})", "recovered: {{stage}}"),
        query("sum by (stage) (dnp_telemetry_implied_stages_total{$S})", "implied by a summary: {{stage}}"),
    ),
    bars(
        "Client counter snapshots",
        units.Short,
        "Snapshots of client counters since the start of the ledger, by result.",
        query("sum by (result) (dnp_telemetry_client_snapshots_total{$S})", "{{result}}"),
    ),
    lines(
        "Arrival lag, 1 hour",
        units.Seconds,
        "Time from an event to its arrival, over the preceding hour. Devices send when they can: hours are normal.",
        *quantiles("dnp_telemetry_arrival_lag_seconds", "1h"),
    ),
    lines(
        "Clock skew, 1 hour",
        units.Seconds,
        "Clock skew of senders that state their send time, over the preceding hour.",
        *quantiles("dnp_telemetry_clock_skew_seconds", "1h"),
    ),
    lines(
        "Followed files: lag",
        units.BytesIEC,
        "Bytes of each followed file that are not stored yet.",
        query("max by (file) (dnp_telemetry_follow_lag_bytes{$S})", "{{file}}"),
    ).span(12),
    lines(
        "Followed files: rotations and errors",
        units.Short,
        "Rotations, read errors, and gaps (the rest of a rotated file was not found) in the preceding hour.",
        query("sum(increase(dnp_telemetry_follow_rotations_total{$S}[1h]))", "rotations"),
        query("sum(increase(dnp_telemetry_follow_read_errors_total{$S}[1h]))", "read errors"),
        query("sum(increase(dnp_telemetry_follow_gaps_total{$S}[1h]))", "gaps"),
    ).span(12),
    limit(
        lines(
            "Followed journal: lag",
            units.Seconds,
            "Time since the service last had all matching entries of the followed journal stored; 0 if it has.",
            query("max by (instance) (dnp_telemetry_follow_journal_lag_seconds{$S})", "{{instance}}"),
        ).span(12),
        "green", (300, "red"),
    ),
    lines(
        "Followed journal: errors and gaps",
        units.Short,
        "Read errors, and gaps (entries deleted or damaged before they were read) in the preceding hour.",
        query("sum(increase(dnp_telemetry_follow_journal_read_errors_total{$S}[1h]))", "read errors"),
        query("sum(increase(dnp_telemetry_follow_journal_gaps_total{$S}[1h]))", "gaps"),
    ).span(12),
]

LEDGER = [
    lines(
        "Commits",
        units.OpsPerSecond,
        "Transactions per second by result. Events of a failed transaction are not acknowledged.",
        rate("dnp_telemetry_ledger_commits_total", legend="committed"),
        rate("dnp_telemetry_ledger_commit_failures_total", legend="failed"),
    ),
    lines(
        "Commit duration",
        units.Seconds,
        "Duration of a transaction.",
        *quantiles("dnp_telemetry_ledger_commit_seconds"),
    ),
    lines(
        "Events per commit",
        units.Short,
        "Events in a transaction.",
        *quantiles("dnp_telemetry_ledger_batch_events"),
    ),
    lines(
        "Ledger disk space",
        units.BytesIEC,
        "Size of the ledger including its write-ahead log, size of that log, and free space of the file system.",
        query("sum(dnp_telemetry_ledger_bytes{$S})", "ledger"),
        query("sum(dnp_telemetry_ledger_log_bytes{$S})", "write-ahead log"),
        query("min(dnp_telemetry_ledger_available_bytes{$S})", "available"),
    ),
    lines(
        "Ledger room",
        units.BytesIEC,
        "What events may still take before the ledger refuses them, and what it holds back for its own upkeep.",
        query("min(dnp_telemetry_ledger_room_bytes{$S})", "room for events"),
        query("max(dnp_telemetry_ledger_held_back_bytes{$S})", "held back"),
    ),
    lines(
        "Commit queue, requests",
        units.Short,
        "Requests that wait for a commit. Above the limit the service answers 503.",
        query("sum(dnp_telemetry_ledger_waiting_submissions{$S})", "requests"),
    ),
    lines(
        "Commit queue, bytes",
        units.BytesIEC,
        "Bytes of the requests that wait for a commit.",
        query("sum(dnp_telemetry_ledger_waiting_bytes{$S})", "bytes"),
    ),
    lines(
        "Ledger refusals by reason",
        units.CountsPerSecond,
        "Requests and log chunks per second that the ledger refused, by reason.",
        rate("dnp_telemetry_ledger_refused_total", "reason"),
    ),
    lines(
        "Retained batches",
        units.Short,
        "Batches retained for a checkpoint, the journal or the retention period.",
        query("sum(dnp_telemetry_ledger_backlog_batches{$S})", "batches"),
    ),
    lines(
        "Remembered identities",
        units.Short,
        "Identities of events and batches kept to detect duplicates.",
        query("sum(dnp_telemetry_remembered_identities{$S})", "identities"),
    ),
    lines(
        "Ledger memory",
        units.BytesIEC,
        "Memory of the remembered identities and of SQLite.",
        query("sum(dnp_telemetry_remembered_identities_bytes{$S})", "identities"),
        query("sum(dnp_telemetry_ledger_memory_bytes{$S})", "SQLite"),
    ),
    number(
        "Damaged ledger",
        units.Short,
        "1 if the service set a damaged ledger aside when it started.",
        "max(dnp_telemetry_ledger_set_aside{$S})",
    ).thresholds(NONE_IS_GOOD),
    number(
        "Missing events",
        units.Short,
        "Acknowledged events that the ledger has lost, as its mark or the journal showed, since the start of the ledger.",
        "sum(dnp_telemetry_ledger_missing_events_total{$S})",
    ).thresholds(NONE_IS_GOOD),
    number(
        "Unreadable batches",
        units.Short,
        "Batches of the ledger that could not be read since the process started.",
        "sum(dnp_telemetry_unreadable_batches_total{$S})",
    ).thresholds(NONE_IS_GOOD),
    number(
        "Maintenance failures",
        units.Short,
        "Failed checkpoints and failed deletions of old batches since the process started.",
        "sum(dnp_telemetry_checkpoint_failures_total{$S} + dnp_telemetry_retention_failures_total{$S})",
    ).thresholds(NONE_IS_GOOD),
    number(
        "Evicted cycles",
        units.Short,
        "Cycles closed early because too many were open, since the start of the ledger.",
        "sum(dnp_telemetry_evicted_cycles_total{$S})",
    ).thresholds(NONE_IS_GOOD),
    number(
        "Evicted identities",
        units.Short,
        "Identities evicted because too many were remembered, since the start of the ledger.",
        "sum(dnp_telemetry_evicted_identities_total{$S})",
    ).thresholds(NONE_IS_GOOD),
    number(
        "Evicted installations",
        units.Short,
        "Installations evicted because too many were remembered, since the start of the ledger.",
        "sum(dnp_telemetry_evicted_installations_total{$S})",
    ).thresholds(NONE_IS_GOOD),
]

JOURNAL = [
    state(
        "journald",
        "Whether journald accepts entries. Empty without a journal.",
        "min(dnp_telemetry_journal_up{$S})",
        {0: ("down", "red"), 1: ("up", "green")},
    ).height(7),
    state(
        "Entries per datagram",
        "Multiple entries per datagram once read-back has shown that journald stores them.",
        "min(dnp_telemetry_journal_batching{$S})",
        {0: ("one", "blue"), 1: ("multiple", "green")},
    ).height(7),
    lines(
        "Journal entries",
        units.CountsPerSecond,
        "Entries per second: written to journald, confirmed by read-back, retried, lost by journald, and skipped "
        "while no journal was written.",
        rate("dnp_telemetry_journal_entries_written_total", legend="written"),
        rate("dnp_telemetry_journal_entries_confirmed_total", legend="confirmed"),
        rate("dnp_telemetry_journal_entries_retried_total", legend="retried"),
        rate("dnp_telemetry_journal_entries_lost_total", legend="lost"),
        rate("dnp_telemetry_journal_entries_skipped_total", legend="skipped"),
    ),
    lines(
        "Pending entries",
        units.Short,
        "Events of the ledger that are not confirmed in the journal yet.",
        query("sum(dnp_telemetry_journal_pending_entries{$S})", "entries"),
    ).span(4),
    limit(
        lines(
            "Journal lag",
            units.Seconds,
            "Age of the oldest event that is not confirmed in the journal.",
            query("max(dnp_telemetry_journal_lag_seconds{$S})", "lag"),
        ).span(4),
        "green", (300, "red"),
    ),
]

HTTP = [
    lines(
        "HTTP requests",
        units.RequestsPerSecond,
        "Answered requests per second by route and status.",
        rate("dnp_telemetry_http_requests_total", "route, status"),
    ),
    lines(
        "Request duration, p99",
        units.Seconds,
        "Time from the head of a request to the end of the response, by route.",
        query(
            "histogram_quantile(0.99, sum by (le, http_route) ("
            "rate(http_server_request_duration_seconds_bucket{$S}[$__rate_interval])))",
            "{{http_route}}",
        ),
    ),
    lines(
        "Connections",
        units.Short,
        "Open connections.",
        query("sum(dnp_telemetry_http_connections{$S})", "connections"),
    ),
    lines(
        "Page render duration",
        units.Seconds,
        "Time to render and compress the metrics page.",
        *quantiles("dnp_telemetry_scrape_seconds", "5m"),
    ),
    lines(
        "Scrapes by format",
        units.RequestsPerSecond,
        "Scrapes per second by negotiated format and content coding.",
        rate("dnp_telemetry_scrape_requests_total", "format, encoding"),
    ),
    lines(
        "Page size",
        units.BytesIEC,
        "Size of the last metrics page before compression, and mean size as sent over the preceding 10 minutes.",
        query("max(dnp_telemetry_scrape_bytes{$S})", "uncompressed"),
        query(
            "sum(increase(dnp_telemetry_scrape_sent_bytes_total{$S}[10m]))"
            " / sum(increase(dnp_telemetry_scrape_requests_total{$S}[10m]))",
            "sent",
        ),
    ),
    lines(
        "Failed scrapes",
        units.Short,
        "Scrapes in the preceding hour that were refused because too many were in flight, or whose response timed out.",
        query("sum(increase(dnp_telemetry_scrape_refused_total{$S}[1h]))", "refused"),
        query("sum(increase(dnp_telemetry_scrape_timeouts_total{$S}[1h]))", "timed out"),
    ),
    lines(
        "Scrapes in flight",
        units.Short,
        "Scrapes that the service is answering.",
        query("max(dnp_telemetry_scrape_in_flight{$S})", "scrapes"),
    ),
    lines(
        "Scrape duration",
        units.Seconds,
        "Duration of a scrape as measured by Prometheus.",
        query("max by (instance) (scrape_duration_seconds{$S})", "{{instance}}"),
    ),
    lines(
        "Samples per scrape",
        units.Short,
        "Samples that Prometheus read from the page. Keep sample_limit in the scrape configuration above it.",
        query("max by (instance) (scrape_samples_scraped{$S})", "{{instance}}"),
    ).span(12),
    lines(
        "Registry errors",
        units.Short,
        "Since the process started: conflicting registrations, ignored values, and label values above a limit.",
        query("sum(metrics_registry_conflicts_total{$S})", "conflicts"),
        query("sum(metrics_registry_ignored_values_total{$S})", "ignored values"),
        query("sum(metrics_registry_overflowed_lookups_total{$S})", "overflowed lookups"),
    ).span(12),
]

PROCESS = [
    lines(
        "CPU",
        units.PercentUnit,
        "CPU time per second; 100% is one core.",
        query("sum by (instance) (rate(process_cpu_seconds_total{$S}[$__rate_interval]))", "{{instance}}"),
    ),
    lines(
        "Memory",
        units.BytesIEC,
        "Resident memory, and heap in use and free. The service stops sampling the heap once that takes too long.",
        query("sum(process_resident_memory_bytes{$S})", "resident"),
        query("sum(swift_heap_allocated_bytes{$S})", "heap, in use"),
        query("sum(swift_heap_free_bytes{$S})", "heap, free"),
    ),
    lines(
        "Open files",
        units.Short,
        "Open file descriptors and their limit.",
        query("max by (instance) (process_open_fds{$S})", "{{instance}}"),
        query("min(process_max_fds{$S})", "limit"),
    ),
    lines(
        "Threads",
        units.Short,
        "Threads of the process.",
        query("max by (instance) (process_threads{$S})", "{{instance}}"),
    ).span(12),
    lines(
        "Task start delay",
        units.Seconds,
        "Time from enqueueing a task on Swift's cooperative pool to its start, sampled once per scrape. High values mean "
        "that something blocks the pool.",
        *quantiles("swift_task_start_delay_seconds", "10m"),
    ).span(12),
]

DASHBOARD = page(
    "dnp-telemetry-service",
    "DNP telemetry service",
    "The collector itself. Needs no recording rules.",
    "now-6h",
    [
        ("State", STATE),
        ("Ingest", INGEST),
        ("Ledger", LEDGER),
        ("Journal", JOURNAL),
        ("HTTP and scrapes", HTTP),
        ("Process", PROCESS),
    ],
)
