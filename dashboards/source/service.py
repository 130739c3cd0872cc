# SPDX-License-Identifier: Apache-2.0
"""What the service does: ingest, ledger, journal, HTTP, scrapes, process."""

from grafana import bars, dashboard, lines, query, stat, words

BROKEN = [(None, "red"), (0, "green"), (1, "red")]
NONE_IS_GOOD = [(None, "green"), (1, "red")]


def rate(family, label=None, name=""):
    """Events a second, of one label or all together."""
    sum_by = f"sum by ({label}) " if label else "sum"
    legend = " ".join("{{" + one.strip() + "}}" for one in label.split(",")) if label else name
    return query(f"{sum_by}(rate({family}{{$S}}[$__rate_interval]))", legend)


def quantiles(family, window="$__rate_interval"):
    return [
        query(f"histogram_quantile({q}, sum by (le) (rate({family}_bucket{{$S}}[{window}])))", name)
        for q, name in ((0.5, "half"), (0.9, "9 in 10"), (0.99, "99 in 100"))
    ]


STATE = [
    words(
        "Scraped",
        "Whether the last scrape succeeded.",
        [query("min(up{$S})")],
        meanings={0: ("down", "red"), 1: ("up", "green")},
    ),
    words(
        "Version",
        "The version of the build.",
        [query("count by (version) (dnp_telemetry_build_info{$S})", "{{version}}")],
    ),
    stat("Since the start", "s", "Time since the process started.", "min(time() - process_start_time_seconds{$S})"),
    stat("Ledger position", "short", "The number of the last event.", "sum(dnp_telemetry_ledger_sequence{$S})"),
    words(
        "Configuration",
        "Whether the configuration could be read when it was read last.",
        [query("min(dnp_telemetry_config_last_reload_successful{$S})")],
        meanings={0: ("refused", "red"), 1: ("read", "green")},
    ),
    stat(
        "Ingest sums",
        "short",
        "received - accepted - duplicate - rejected: 0, or there is a bug.",
        """
        sum(dnp_telemetry_events_received_total{$S}) - sum(dnp_telemetry_events_accepted_total{$S})
          - sum(dnp_telemetry_events_duplicate_total{$S}) - sum(dnp_telemetry_events_rejected_total{$S})
        """,
        steps=BROKEN,
    ),
    stat(
        "Journal sums",
        "short",
        "accepted - confirmed - skipped - pending: 0, or there is a bug; empty without a journal.",
        """
        sum(
          dnp_telemetry_events_accepted_total{$S} - dnp_telemetry_journal_entries_confirmed_total{$S}
            - dnp_telemetry_journal_entries_skipped_total{$S} - dnp_telemetry_journal_pending_entries{$S}
        )
        """,
        steps=BROKEN,
    ),
]

INGEST = [
    lines(
        "Events received",
        "cps",
        "Events a second, by where they came from and in which form.",
        [rate("dnp_telemetry_events_received_total", "source, format")],
    ),
    lines(
        "Results",
        "cps",
        "Events a second, by what became of them.",
        [
            rate("dnp_telemetry_events_accepted_total", name="accepted"),
            rate("dnp_telemetry_events_duplicate_total", name="duplicate"),
            rate("dnp_telemetry_events_rejected_total", name="rejected"),
        ],
    ),
    lines(
        "Rejected by reason",
        "cps",
        "Events a second that were refused, by reason.",
        [rate("dnp_telemetry_events_rejected_total", "reason")],
    ),
    lines(
        "Log lines",
        "cps",
        "Lines of logs a second: of the plugin, of others, and of the plugin in words that no rule knows.",
        [rate("dnp_telemetry_log_lines_total", "result")],
    ),
    lines(
        "Fields that nobody knows",
        "cps",
        "Fields a second that were dropped because the vocabulary does not know them.",
        [rate("dnp_telemetry_unknown_fields_total", name="unknown fields")],
    ),
    bars(
        "Told by summaries and counters alone",
        "short",
        "Since the ledger began: events that were lost on the way and recovered from the clients' own counters, and "
        "stages that only the summary of a cycle told of.",
        [
            query("sum by (stage) (dnp_telemetry_recovered_events_total{$S})", "recovered: {{stage}}"),
            query("sum by (stage) (dnp_telemetry_implied_stages_total{$S})", "from a summary: {{stage}}"),
        ],
    ),
    bars(
        "Counters of clients",
        "short",
        "Snapshots of the clients' own counters since the ledger began, by what became of them.",
        [query("sum by (result) (dnp_telemetry_client_snapshots_total{$S})", "{{result}}")],
    ),
    lines(
        "Arrival lag, 1 hour",
        "s",
        "From events to their arrival, over the hour before each moment. Devices send when they can: hours are usual.",
        quantiles("dnp_telemetry_arrival_lag_seconds", "1h"),
    ),
    lines(
        "Clock skew, 1 hour",
        "s",
        "How far the clocks of senders were off, over the hour before each moment; of those that say when they sent.",
        quantiles("dnp_telemetry_clock_skew_seconds", "1h"),
    ),
    lines(
        "Followed files: not read yet",
        "bytes",
        "Bytes of each followed file that were seen and are not stored yet.",
        [query("max by (file) (dnp_telemetry_follow_lag_bytes{$S})", "{{file}}")],
        width=12,
    ),
    lines(
        "Followed files: trouble",
        "short",
        "Rotations, failed reads, and rests of files that were not found, in the hour before each moment.",
        [
            query("sum(increase(dnp_telemetry_follow_rotations_total{$S}[1h]))", "rotations"),
            query("sum(increase(dnp_telemetry_follow_read_errors_total{$S}[1h]))", "failed reads"),
            query("sum(increase(dnp_telemetry_follow_gaps_total{$S}[1h]))", "rests not found"),
        ],
        width=12,
    ),
    lines(
        "Followed journal: behind",
        "s",
        "Time since all matching entries of the followed journal were read and stored; 0 while they are.",
        [query("max by (instance) (dnp_telemetry_follow_journal_lag_seconds{$S})", "{{instance}}")],
        width=12,
        steps=[(None, "green"), (300, "red")],
    ),
    lines(
        "Followed journal: trouble",
        "short",
        "Failed reads of the followed journal, and times that entries were gone or damaged before they were read, in "
        "the hour before each moment.",
        [
            query("sum(increase(dnp_telemetry_follow_journal_read_errors_total{$S}[1h]))", "failed reads"),
            query("sum(increase(dnp_telemetry_follow_journal_gaps_total{$S}[1h]))", "gone or damaged"),
        ],
        width=12,
    ),
]

LEDGER = [
    lines(
        "Commits",
        "cps",
        "Transactions a second, and those that failed; none of the events of those was acknowledged.",
        [
            rate("dnp_telemetry_ledger_commits_total", name="committed"),
            rate("dnp_telemetry_ledger_commit_failures_total", name="failed"),
        ],
    ),
    lines("Time of a commit", "s", "Time of a commit.", quantiles("dnp_telemetry_ledger_commit_seconds")),
    lines("Events in a commit", "short", "Events in a commit.", quantiles("dnp_telemetry_ledger_batch_events")),
    lines(
        "Space",
        "bytes",
        "Size of the ledger, its write-ahead log in it, and what its file system still has for it.",
        [
            query("sum(dnp_telemetry_ledger_bytes{$S})", "ledger"),
            query("sum(dnp_telemetry_ledger_log_bytes{$S})", "log"),
            query("min(dnp_telemetry_ledger_available_bytes{$S})", "available"),
        ],
    ),
    lines(
        "Waiting for a commit",
        "short",
        "Requests that wait for a commit; each is refused with 503 when too much waits.",
        [query("sum(dnp_telemetry_ledger_waiting_submissions{$S})", "requests")],
    ),
    lines(
        "Waiting for a commit, in bytes",
        "bytes",
        "Bytes of the requests that wait for a commit.",
        [query("sum(dnp_telemetry_ledger_waiting_bytes{$S})", "bytes")],
    ),
    lines(
        "Refused by the ledger",
        "cps",
        "Requests and pieces of logs a second that the ledger did not take, by reason.",
        [rate("dnp_telemetry_ledger_refused_total", "reason")],
    ),
    lines(
        "Batches kept",
        "short",
        "Batches that are kept for a checkpoint, the journal or the retention.",
        [query("sum(dnp_telemetry_ledger_backlog_batches{$S})", "batches")],
    ),
    lines(
        "Remembered identities",
        "short",
        "Identities of events and batches by which a duplicate is known.",
        [query("sum(dnp_telemetry_remembered_identities{$S})", "identities")],
    ),
    lines(
        "Memory of ledger and identities",
        "bytes",
        "Memory that the remembered identities take, and that SQLite uses.",
        [
            query("sum(dnp_telemetry_remembered_identities_bytes{$S})", "identities"),
            query("sum(dnp_telemetry_ledger_memory_bytes{$S})", "SQLite"),
        ],
    ),
    stat(
        "Damaged ledger",
        "short",
        "1 when a damaged ledger was set aside at this start.",
        "max(dnp_telemetry_ledger_set_aside{$S})",
        steps=NONE_IS_GOOD,
    ),
    stat(
        "Unreadable batches",
        "short",
        "Batches of the ledger that could not be read, since the start.",
        "sum(dnp_telemetry_unreadable_batches_total{$S})",
        steps=NONE_IS_GOOD,
    ),
    stat(
        "Failed upkeep",
        "short",
        "Checkpoints that could not be saved and old batches that could not be deleted, since the start.",
        "sum(dnp_telemetry_checkpoint_failures_total{$S} + dnp_telemetry_retention_failures_total{$S})",
        steps=NONE_IS_GOOD,
    ),
    stat(
        "Cycles closed early",
        "short",
        "Cycles that were closed because too many were open, since the ledger began.",
        "sum(dnp_telemetry_evicted_cycles_total{$S})",
        steps=NONE_IS_GOOD,
    ),
    stat(
        "Identities forgotten early",
        "short",
        "Identities that were forgotten because too many were remembered, since the ledger began.",
        "sum(dnp_telemetry_evicted_identities_total{$S})",
        steps=NONE_IS_GOOD,
    ),
    stat(
        "Installations forgotten",
        "short",
        "Installations that were forgotten because too many were remembered, since the ledger began.",
        "sum(dnp_telemetry_evicted_installations_total{$S})",
        steps=NONE_IS_GOOD,
    ),
]

JOURNAL = [
    words(
        "journald",
        "Whether the journal takes entries; empty without a journal.",
        [query("min(dnp_telemetry_journal_up{$S})")],
        height=7,
        meanings={0: ("down", "red"), 1: ("up", "green")},
    ),
    words(
        "Entries in a datagram",
        "Several once reading back has proven that journald stores them.",
        [query("min(dnp_telemetry_journal_batching{$S})")],
        height=7,
        meanings={0: ("one", "blue"), 1: ("several", "green")},
    ),
    lines(
        "Entries",
        "cps",
        "Entries a second: handed to journald, read back from it, sent again, discarded by it, and passed over while "
        "no journal was written.",
        [
            rate("dnp_telemetry_journal_entries_written_total", name="written"),
            rate("dnp_telemetry_journal_entries_confirmed_total", name="confirmed"),
            rate("dnp_telemetry_journal_entries_retried_total", name="sent again"),
            rate("dnp_telemetry_journal_entries_lost_total", name="discarded"),
            rate("dnp_telemetry_journal_entries_skipped_total", name="passed over"),
        ],
    ),
    lines(
        "Pending",
        "short",
        "Events of the ledger that are not confirmed in the journal yet.",
        [query("sum(dnp_telemetry_journal_pending_entries{$S})", "entries")],
        width=4,
    ),
    lines(
        "Lag",
        "s",
        "Age of the oldest event that is not confirmed in the journal.",
        [query("max(dnp_telemetry_journal_lag_seconds{$S})", "lag")],
        width=4,
        steps=[(None, "green"), (300, "red")],
    ),
]

HTTP = [
    lines(
        "Requests",
        "reqps",
        "Requests answered a second, by route and status.",
        [rate("dnp_telemetry_http_requests_total", "route, status")],
    ),
    lines(
        "Time of a request",
        "s",
        "From the head of a request to the end of its answer, where that has a body that was sent to its end: "
        "99 in 100 of each route take no longer.",
        [
            query(
                "histogram_quantile(0.99, sum by (le, http_route) ("
                "rate(http_server_request_duration_seconds_bucket{$S}[$__rate_interval])))",
                "{{http_route}}",
            )
        ],
    ),
    lines(
        "Connections",
        "short",
        "Connections that are open.",
        [query("sum(dnp_telemetry_http_connections{$S})", "connections")],
    ),
    lines(
        "Time to render a page",
        "s",
        "Time that the service takes to render and compress the metrics page.",
        quantiles("dnp_telemetry_scrape_seconds", "5m"),
    ),
    lines(
        "Scrapes",
        "reqps",
        "Pages a second, by the format and the coding that were chosen.",
        [rate("dnp_telemetry_scrape_requests_total", "format, encoding")],
    ),
    lines(
        "Size of the page",
        "bytes",
        "Size of the last metrics page before it was compressed, and of the pages of ten minutes as they were sent.",
        [
            query("max(dnp_telemetry_scrape_bytes{$S})", "page"),
            query(
                "sum(increase(dnp_telemetry_scrape_sent_bytes_total{$S}[10m]))"
                " / sum(increase(dnp_telemetry_scrape_requests_total{$S}[10m]))",
                "sent",
            ),
        ],
    ),
    lines(
        "Scrapes that failed",
        "short",
        "Scrapes in the hour before each moment that were refused because too many were under way, and whose answer "
        "could not be written in time.",
        [
            query("sum(increase(dnp_telemetry_scrape_refused_total{$S}[1h]))", "refused"),
            query("sum(increase(dnp_telemetry_scrape_timeouts_total{$S}[1h]))", "not taken in time"),
        ],
    ),
    lines(
        "Scrapes under way",
        "short",
        "Scrapes that are being answered.",
        [query("max(dnp_telemetry_scrape_in_flight{$S})", "scrapes")],
    ),
    lines(
        "Time of a scrape",
        "s",
        "Time that a scrape takes as Prometheus sees it.",
        [query("max by (instance) (scrape_duration_seconds{$S})", "{{instance}}")],
    ),
    lines(
        "Samples of a scrape",
        "short",
        "Samples that Prometheus read from the page; sample_limit of the scrape configuration is above it.",
        [query("max by (instance) (scrape_samples_scraped{$S})", "{{instance}}")],
        width=12,
    ),
    lines(
        "Registry",
        "short",
        "Since the start: registrations that conflicted, values that no metric takes, and label values past a limit.",
        [
            query("sum(metrics_registry_conflicts_total{$S})", "conflicts"),
            query("sum(metrics_registry_ignored_values_total{$S})", "ignored values"),
            query("sum(metrics_registry_overflowed_lookups_total{$S})", "overflowed look-ups"),
        ],
        width=12,
    ),
]

PROCESS = [
    lines(
        "CPU",
        "percentunit",
        "Share of one core.",
        [query("sum by (instance) (rate(process_cpu_seconds_total{$S}[$__rate_interval]))", "{{instance}}")],
    ),
    lines(
        "Memory",
        "bytes",
        "Memory that the process holds, and what of it the heap uses and keeps for later. "
        "The heap is not read again once that took long.",
        [
            query("sum(process_resident_memory_bytes{$S})", "resident"),
            query("sum(swift_heap_allocated_bytes{$S})", "heap, in use"),
            query("sum(swift_heap_free_bytes{$S})", "heap, kept"),
        ],
    ),
    lines(
        "Open files",
        "short",
        "File descriptors in use, and their limit.",
        [
            query("max by (instance) (process_open_fds{$S})", "{{instance}}"),
            query("min(process_max_fds{$S})", "limit"),
        ],
    ),
    lines(
        "Threads",
        "short",
        "Threads of the operating system.",
        [query("max by (instance) (process_threads{$S})", "{{instance}}")],
        width=12,
    ),
    lines(
        "Wait for the cooperative pool",
        "s",
        "From enqueueing a task to its start, sampled once a scrape: long when something blocks the pool.",
        quantiles("swift_task_start_delay_seconds", "10m"),
        width=12,
    ),
]

DASHBOARD = dashboard(
    "dnp-telemetry-service",
    "DNP telemetry service",
    "The collector itself. Works with the metrics page alone.",
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
