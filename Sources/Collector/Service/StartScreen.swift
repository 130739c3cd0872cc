// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import Logging
internal import TextOutput

/// What the service prints once it is ready: where to post and to scrape, where the ledger is and where events go.
package struct StartScreen: Sendable, CustomStringConvertible {
    /// Where the service listens, in the order of the configuration.
    package var addresses: [ListeningAddress]
    /// The ledger's file.
    package var ledger: String
    /// What was found when the ledger was opened.
    package var opening: LedgerOpening
    /// Where the events go besides the ledger.
    package var journal: String
    /// What the acknowledgement promises.
    package var durability: LedgerDurability

    /// The path of the metrics.
    package var metricsPath = MetricsPath.default
    /// Whether the console is served.
    package var hasConsole = true
    /// The files that are followed.
    package var followedFiles: [String] = []
    /// The matches of the journal that is followed.
    package var followedJournal: [String] = []
    /// Whether standard input is read.
    package var readsStandardInput = false
    /// What the suggested commands need to be let in.
    var access = CurlAccess()

    /// The screen's lines.
    package var description: String {
        let posting = addresses.filter { $0.services.contains(.ingest) }
        let scraping = addresses.filter { $0.services.contains(.metrics) }
        let browsing = hasConsole ? addresses.filter { $0.services.contains(.console) } : []
        let places =
            posting.map { "post     \($0.url("/v1/events"))" } + scraping.map { "scrape   \($0.url(metricsPath))" }
            + browsing.map { "console  \($0.url("/"))" }
            + addresses.filter { $0.services.contains(.lines) }.map { "lines    \($0.url(""))" }
        let read =
            followedFiles.map { "follow   \($0)\(Self.isThere($0) ? "" : " (not there yet; it is waited for)")" }
            + (followedJournal.isEmpty ? [] : ["follow   the journal, \(followedJournal.joined(separator: " "))"])
            + (readsStandardInput ? ["read     standard input"] : [])
        let lines =
            places + [
                "ledger   \(ledger) (\(opening), durability \(durability.rawValue))", "journal  \(journal)",
            ] + read
        let attempts = [posting.first.map(postingCommand), scraping.first.map(scrapingCommand)].compactMap(\.self)
        let attempt = attempts.isEmpty ? "" : "\nTry it:\n" + attempts.map { "  \($0)\n" }.joined()
        return """
            dnp-telemetry \(BuildVersion.current) is ready.

            \(lines.map { "  \($0)\n" }.joined())\(attempt)
            """
    }

    private static func isThere(_ path: String) -> Bool {
        if case .absent = FileAccess.look(path) { false } else { true }
    }

    /// The same for a log line.
    package var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "version": "\(BuildVersion.current)", "ledger": "\(ledger)", "opening": "\(opening)",
            "durability": "\(durability.rawValue)", "journal": "\(journal)",
        ]
        func add(_ key: String, _ places: [String]) {
            if !places.isEmpty { metadata[key] = "\(places.joined(separator: ", "))" }
        }
        add("post", addresses.filter { $0.services.contains(.ingest) }.map { $0.url("/v1/events") })
        add("scrape", addresses.filter { $0.services.contains(.metrics) }.map { $0.url(metricsPath) })
        if hasConsole { add("console", addresses.filter { $0.services.contains(.console) }.map { $0.url("/") }) }
        add("lines", addresses.filter { $0.services.contains(.lines) }.map { $0.url("") })
        add("follow", followedFiles + (followedJournal.isEmpty ? [] : ["the journal"]))
        return metadata
    }

    private func postingCommand(_ address: ListeningAddress) -> String {
        "curl -s \(access.arguments(address, "/v1/events", isPost: true)) -H 'Content-Type: application/json' "
            + #"-d '{"event":"prefetch_scheduled","scheduleId":"notif-1","timestamp":"'"$(date -u +%FT%TZ)"'"}'"#
    }

    private func scrapingCommand(_ address: ListeningAddress) -> String {
        #"curl -s \#(access.arguments(address, metricsPath, isPost: false)) | grep "^dnp_prefetch.*_total""#
    }
}

extension StartScreen {
    /// The screen of a configuration.
    init(_ configuration: ServeConfiguration, addresses: [ListeningAddress], opening: LedgerOpening) {
        self.init(
            addresses: addresses,
            ledger: configuration.stateDirectory + "/ledger.sqlite",
            opening: opening,
            journal: JournalOutput.description(configuration),
            durability: configuration.durability,
            metricsPath: configuration.metricsPath,
            hasConsole: configuration.hasConsole,
            followedFiles: configuration.followedFiles.map(\.path),
            followedJournal: configuration.followedJournal,
            readsStandardInput: configuration.readsStandardInput,
            access: CurlAccess(configuration)
        )
    }
}
