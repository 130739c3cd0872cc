// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry

/// The code that the articles show, compiled and run.
enum ArticleSnippets {
    static func overview(acceptHeader: String?) -> [UInt8] {
        let registry = MetricsRegistry { print($0) }
        let jobs = registry.counter("jobs_total", help: "Jobs that were finished.", labels: ["queue"])
        let seconds = registry.histogram("job_seconds", help: "Time of a job.", unit: "seconds", buckets: [0.1, 1, 10])

        jobs.with("mail").add()
        seconds.observe(0.25)

        let page = registry.exposition(.negotiated(accept: acceptHeader))
        return page
    }

    static func histogram(_ registry: MetricsRegistry) {
        let answer = registry.histogram(
            "answer_seconds",
            help: "Time to answer.",
            unit: "seconds",
            buckets: [0.01, 0.05, 0.1, 0.3, 1, 5]
        )
        answer.observe(0.02)
    }

    static func labels(_ registry: MetricsRegistry) {
        let requests = registry.counter("requests_total", help: "Requests.", labels: ["route", "status"])
        requests.with("/events", "200").add()
    }

    static func formats(_ registry: MetricsRegistry, acceptHeader: String?) {
        let format = ExpositionFormat.negotiated(accept: acceptHeader)
        registry.withExposition(format) { page in
            // page is a Span of the bytes, in a buffer that the registry uses again
        }
    }

    static func update(
        _ registry: MetricsRegistry,
        _ totals: (received: Counter, accepted: Counter, refused: Counter),
        _ counts: (received: UInt64, accepted: UInt64, refused: UInt64)
    ) {
        let (receivedTotal, acceptedTotal, refusedTotal) = totals
        let (received, accepted, refused) = counts
        registry.update { update in
            update.add(received, to: receivedTotal)
            update.add(accepted, to: acceptedTotal)
            update.add(refused, to: refusedTotal)
        }
    }
}
