// SPDX-License-Identifier: Apache-2.0

public import EventLedger

/// What the service says once it runs: where to post, where to scrape, where the ledger is, where the events go.
public struct StartScreen: Sendable, CustomStringConvertible {
    /// The address with its port, as a URL without a path.
    public var base: String
    /// The ledger's file.
    public var ledger: String
    /// What was found when the ledger was opened.
    public var opening: LedgerOpening
    /// Where the events go besides the ledger.
    public var journal: String
    /// What the acknowledgement promises.
    public var durability: LedgerDurability

    /// The path of the metrics.
    public var metricsPath = MetricsPath.default
    /// The files that are followed.
    public var followedFiles: [String] = []
    /// The matches of the journal that is followed.
    public var followedJournal: [String] = []
    /// Where lines are taken without HTTP.
    public var linesSockets: [String] = []
    /// Whether standard input is read.
    public var readsStandardInput = false

    /// The screen's lines.
    public var description: String {
        let following = followedFiles.map { "\n  follow   \($0)" }.joined()
        let entries =
            followedJournal.isEmpty ? "" : "\n  follow   the journal, \(followedJournal.joined(separator: " "))"
        let lines = linesSockets.map { "\n  lines    \($0)" }.joined()
        let reading = readsStandardInput ? "\n  read     standard input" : ""
        return """
            dnp-telemetry \(BuildVersion.current) is ready.

              post     \(base)/v1/events
              scrape   \(base)\(metricsPath)
              ledger   \(ledger) (\(opening), durability \(durability.rawValue))
              journal  \(journal)\(lines)\(following)\(entries)\(reading)

            Try it:
              curl -s \(base)/v1/events -H 'Content-Type: application/json' -d '{"event":"prefetch_scheduled",\
            "scheduleId":"notif-1","timestamp":"'"$(date -u +%FT%TZ)"'"}'
              curl -s \(base)\(metricsPath) | grep "^dnp_prefetch.*_total"

            """
    }
}
