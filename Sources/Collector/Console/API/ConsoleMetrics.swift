// SPDX-License-Identifier: Apache-2.0

internal import LogValidation
internal import MetricsRegistry

/// Counts uploads that were judged or refused, and shows the open live streams.
struct ConsoleMetrics: Sendable {
    private let judged: CounterFamily
    private let refused: CounterFamily

    /// - Parameter openStreams: asked at each scrape.
    init(_ registry: MetricsRegistry, openStreams: @escaping @Sendable () -> Int) {
        judged = registry.counter(
            "dnp_telemetry_console_judged_total",
            help: "Uploads to the console that were judged, by verdict.",
            labels: ["verdict"]
        )
        refused = registry.counter(
            "dnp_telemetry_console_refused_total",
            help: "Uploads to the console that were refused, by reason.",
            labels: ["reason"]
        )
        let streams = registry.gauge(
            "dnp_telemetry_console_streams",
            help: "Live streams of the console that are open."
        )
        for verdict in [Verdict.coherent, .incoherent, .empty] { _ = judged.with(verdict.rawValue) }
        for reason in JudgementRefusal.Reason.allCases { _ = refused.with(reason.rawValue) }
        registry.onCollect { streams.set(openStreams()) }
    }

    func judged(_ verdict: Verdict) {
        judged.with(verdict.rawValue).add()
    }

    func refused(_ reason: JudgementRefusal.Reason) {
        refused.with(reason.rawValue).add()
    }
}
