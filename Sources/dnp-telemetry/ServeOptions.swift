// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import Foundation
import LogInput

/// The options of `serve`: every setting under its own name, and the file that holds them.
struct ServeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File of settings, each under the name of its option; without it $\(SettingsReader.fileVariable).",
            valueName: "file"
        ),
        completion: .file(extensions: ["yml", "yaml"])
    )
    var config: String?

    @Option(help: .setting("listen"))
    var listen: [String] = []

    @Option(help: .setting("metrics-path"))
    var metricsPath: String?

    @Option(help: .setting("web-config"), completion: .file())
    var webConfig: String?

    @Option(help: .setting("credentials-dir"), completion: .directory)
    var credentialsDir: String?

    @Option(help: .setting("cors-origin"))
    var corsOrigin: [String] = []

    @Flag(inversion: .prefixedNo, help: .setting("reload-endpoint"))
    var reloadEndpoint: Bool?

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

    @Option(help: .setting("timezone"))
    var timezone: String?

    @Option(help: .setting("input-format"), completion: .list(LineFormat.names))
    var inputFormat: String?

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

    func validate() throws {
        if let problem = reader.optionProblems.first { throw ValidationError("\(problem)") }
    }

    /// How the settings are read, now and again at each reload.
    var reader: SettingsReader {
        let named = environment[SettingsReader.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        return SettingsReader(options: given, environment: environment, file: config ?? named)
    }

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The settings given as options.
    var given: [String: [String]] {
        var given: [String: [String]] = [:]
        let values: [(String, String?)] = [
            ("metrics-path", metricsPath),
            ("web-config", webConfig),
            ("credentials-dir", credentialsDir),
            ("state-dir", stateDir),
            ("durability", durability),
            ("retention", retention),
            ("journal", journal),
            ("journal-socket", journalSocket),
            ("timezone", timezone),
            ("input-format", inputFormat),
            ("max-body", maxBody),
            ("max-decompressed-body", maxDecompressedBody),
            ("max-compression-ratio", maxCompressionRatio),
            ("max-bytes-in-flight", maxBytesInFlight),
            ("max-backlog", maxBacklog),
            ("max-connections", maxConnections),
            ("max-connections-per-client", maxConnectionsPerClient),
            ("max-scrapes", maxScrapes),
            ("client-rate", clientRate),
            ("header-timeout", headerTimeout),
            ("body-timeout", bodyTimeout),
            ("response-timeout", responseTimeout),
            ("idle-timeout", idleTimeout),
            ("min-transfer-rate", minTransferRate),
            ("transfer-grace", transferGrace),
            ("max-commit-time", maxCommitTime),
            ("log-level", logLevel),
            ("log-format", logFormat),
            ("follow-journal-device", followJournalDevice),
        ]
        let lists: [(String, [String])] = [
            ("listen", listen),
            ("cors-origin", corsOrigin),
            ("follow", follow),
            ("follow-journal", followJournal),
            ("token-limit", tokenLimit),
            ("label", label),
        ]
        let flags: [(String, Bool?)] = [
            ("reload-endpoint", reloadEndpoint),
            ("stdin", stdin),
            ("single-device", singleDevice),
            ("created-samples", createdSamples),
            ("quiet", quiet),
        ]
        for (name, value) in values { given[name] = value.map { [$0] } }
        for (name, values) in lists where !values.isEmpty { given[name] = values }
        for (name, flag) in flags { given[name] = flag.map { ["\($0)"] } }
        return given
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
