// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import LogInput

/// The texts of settings by their names; nil for those that are not given.
typealias GivenSettings = [(name: String, texts: [String]?)]

/// A group of the options of `serve`, as the help shows them.
protocol SettingOptions {
    var given: GivenSettings { get }
}

/// Where the service listens, and who may do what there.
struct ListeningOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting("listen"))
    var listen: [String] = []

    @Option(help: .setting("metrics-path"))
    var metricsPath: String?

    @Option(help: .setting("web-config"), completion: .file())
    var webConfig: String?

    @Option(help: .setting("credentials-dir"), completion: .directory)
    var credentialsDir: String?

    @Flag(inversion: .prefixedNo, help: .setting("console"))
    var console: Bool?

    @Option(help: .setting("console-users"))
    var consoleUsers: [String] = []

    @Option(help: .setting("cors-origin"))
    var corsOrigin: [String] = []

    @Flag(inversion: .prefixedNo, help: .setting("reload-endpoint"))
    var reloadEndpoint: Bool?

    var given: GivenSettings {
        [
            ("listen", listen.isEmpty ? nil : listen),
            ("metrics-path", metricsPath.map { [$0] }),
            ("web-config", webConfig.map { [$0] }),
            ("credentials-dir", credentialsDir.map { [$0] }),
            ("console", console.map { ["\($0)"] }),
            ("console-users", consoleUsers.isEmpty ? nil : consoleUsers),
            ("cors-origin", corsOrigin.isEmpty ? nil : corsOrigin),
            ("reload-endpoint", reloadEndpoint.map { ["\($0)"] }),
        ]
    }
}

/// Where events are stored.
struct StorageOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting("state-dir"), completion: .directory)
    var stateDir: String?

    @Option(help: .setting("durability"), completion: .list(["process", "power"]))
    var durability: String?

    @Option(help: .setting("retention"))
    var retention: String?

    @Option(help: .setting("journal"), completion: .list(["journald", "stdout", "off"]))
    var journal: String?

    @Option(help: .setting("journal-socket"))
    var journalSocket: String?

    var given: GivenSettings {
        [
            ("state-dir", stateDir.map { [$0] }),
            ("durability", durability.map { [$0] }),
            ("retention", retention.map { [$0] }),
            ("journal", journal.map { [$0] }),
            ("journal-socket", journalSocket.map { [$0] }),
        ]
    }
}

/// What is read besides HTTP, and how.
struct SourceOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting("follow"), completion: .file())
    var follow: [String] = []

    @Option(help: .setting("follow-journal"))
    var followJournal: [String] = []

    @Option(help: .setting("follow-journal-device"))
    var followJournalDevice: String?

    @Flag(inversion: .prefixedNo, help: .setting("stdin"))
    var stdin: Bool?

    @Flag(inversion: .prefixedNo, help: .setting("single-device"))
    var singleDevice: Bool?

    @Option(help: .setting("apps"), completion: .list(["dnp", "aiq"]))
    var apps: [String] = []

    @Option(help: .setting("timezone"))
    var timezone: String?

    @Option(help: .setting("input-format"), completion: .list(LineFormat.names))
    var inputFormat: String?

    var given: GivenSettings {
        [
            ("follow", follow.isEmpty ? nil : follow),
            ("follow-journal", followJournal.isEmpty ? nil : followJournal),
            ("follow-journal-device", followJournalDevice.map { [$0] }),
            ("stdin", stdin.map { ["\($0)"] }),
            ("single-device", singleDevice.map { ["\($0)"] }),
            ("apps", apps.isEmpty ? nil : apps),
            ("timezone", timezone.map { [$0] }),
            ("input-format", inputFormat.map { [$0] }),
        ]
    }
}

/// Where metrics and events are sent.
struct ExportOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting("export"))
    var export: [String] = []

    @Option(help: .setting("export-backlog"))
    var exportBacklog: String?

    var given: GivenSettings {
        [
            ("export", export.isEmpty ? nil : export),
            ("export-backlog", exportBacklog.map { [$0] }),
        ]
    }
}

/// Upper limits and rates.
struct LimitOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting("max-body"))
    var maxBody: String?

    @Option(help: .setting("max-decompressed-body"))
    var maxDecompressedBody: String?

    @Option(help: .setting("max-compression-ratio"))
    var maxCompressionRatio: String?

    @Option(help: .setting("max-bytes-in-flight"))
    var maxBytesInFlight: String?

    @Option(help: .setting("max-backlog"))
    var maxBacklog: String?

    @Option(help: .setting("max-connections"))
    var maxConnections: String?

    @Option(help: .setting("max-connections-per-client"))
    var maxConnectionsPerClient: String?

    @Option(help: .setting("max-scrapes"))
    var maxScrapes: String?

    @Option(help: .setting("client-rate"))
    var clientRate: String?

    @Option(help: .setting("token-limit"))
    var tokenLimit: [String] = []

    var given: GivenSettings {
        [
            ("max-body", maxBody.map { [$0] }),
            ("max-decompressed-body", maxDecompressedBody.map { [$0] }),
            ("max-compression-ratio", maxCompressionRatio.map { [$0] }),
            ("max-bytes-in-flight", maxBytesInFlight.map { [$0] }),
            ("max-backlog", maxBacklog.map { [$0] }),
            ("max-connections", maxConnections.map { [$0] }),
            ("max-connections-per-client", maxConnectionsPerClient.map { [$0] }),
            ("max-scrapes", maxScrapes.map { [$0] }),
            ("client-rate", clientRate.map { [$0] }),
            ("token-limit", tokenLimit.isEmpty ? nil : tokenLimit),
        ]
    }
}

/// Timeouts, and the least rate within them.
struct TimeOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting("header-timeout"))
    var headerTimeout: String?

    @Option(help: .setting("body-timeout"))
    var bodyTimeout: String?

    @Option(help: .setting("response-timeout"))
    var responseTimeout: String?

    @Option(help: .setting("idle-timeout"))
    var idleTimeout: String?

    @Option(help: .setting("min-transfer-rate"))
    var minTransferRate: String?

    @Option(help: .setting("transfer-grace"))
    var transferGrace: String?

    @Option(help: .setting("max-commit-time"))
    var maxCommitTime: String?

    var given: GivenSettings {
        [
            ("header-timeout", headerTimeout.map { [$0] }),
            ("body-timeout", bodyTimeout.map { [$0] }),
            ("response-timeout", responseTimeout.map { [$0] }),
            ("idle-timeout", idleTimeout.map { [$0] }),
            ("min-transfer-rate", minTransferRate.map { [$0] }),
            ("transfer-grace", transferGrace.map { [$0] }),
            ("max-commit-time", maxCommitTime.map { [$0] }),
        ]
    }
}

/// The metrics, and the service's own log.
struct OutputOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting("label"), completion: .list(["platform", "app_version"]))
    var label: [String] = []

    @Flag(inversion: .prefixedNo, help: .setting("created-samples"))
    var createdSamples: Bool?

    @Option(
        help: .setting("log-level"),
        completion: .list(["trace", "debug", "info", "notice", "warn", "warning", "error", "critical"])
    )
    var logLevel: String?

    @Option(help: .setting("log-format"), completion: .list(LogFormat.allCases.map(\.rawValue)))
    var logFormat: String?

    @Flag(inversion: .prefixedNo, help: .setting("quiet"))
    var quiet: Bool?

    var given: GivenSettings {
        [
            ("label", label.isEmpty ? nil : label),
            ("created-samples", createdSamples.map { ["\($0)"] }),
            ("log-level", logLevel.map { [$0] }),
            ("log-format", logFormat.map { [$0] }),
            ("quiet", quiet.map { ["\($0)"] }),
        ]
    }
}

extension ArgumentHelp {
    /// The help of a setting, with its default.
    fileprivate static func setting(_ name: String) -> ArgumentHelp {
        guard let setting = Settings.byName[name] else { return "" }
        let standard = setting.standard.isEmpty || setting.form == .flag ? "" : " (default: \(setting.standard))"
        return ArgumentHelp("\(setting.help)\(standard)", valueName: setting.placeholder)
    }
}
