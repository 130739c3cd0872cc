// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LifecycleMetrics
internal import LogInput
internal import Logging
internal import TelemetryEvents

/// All settings of the service; options, variables, keys of the file and their documentation follow from this list.
package enum Settings {
    /// In the order in which they are documented.
    package static let all = listening + storage + sources + exports + limits + rates + times + output

    /// By name.
    package static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

extension Settings {
    /// The outcome of a reload: the configuration that runs on, the settings that changed, and those that need a restart.
    static func reloaded(
        _ running: ServeConfiguration,
        with read: ServeConfiguration
    ) -> (configuration: ServeConfiguration, changed: [String], waiting: [String]) {
        var configuration = running
        let different = all.filter { !$0.isEqual(running, read) }
        for setting in different where setting.isHotReloadable { setting.carry(read, &configuration) }
        return (
            configuration,
            different.filter(\.isHotReloadable).map(\.name),
            different.filter { !$0.isHotReloadable }.map(\.name)
        )
    }
}

extension Settings {
    /// Listeners and access.
    private static let listening: [Setting] = [
        .list(
            "listen",
            \.listeners,
            "endpoint",
            standard: "127.0.0.1:10910",
            "Where to listen: host:port, unix:/path or systemd:name, with attributes separated by spaces."
        ) { (text) throws(SettingError) in
            try Listener(text)
        },
        .value(
            "metrics-path",
            \.metricsPath,
            "path",
            standard: "/metrics",
            "Path of the metrics."
        ) { (text) throws(SettingError) in
            if let complaint = MetricsPath.complaint(about: text) {
                throw SettingError(expected: complaint, found: text)
            }
            return text
        },
        .value(
            "web-config",
            \.webConfigurationFile,
            "file",
            standard: "",
            isPath: true,
            "File of TLS, users and headers in the format of Prometheus' exporter-toolkit; reloaded when it changes.",
            path
        ),
        .value(
            "credentials-dir",
            \.credentialsDirectory,
            "dir",
            standard: "$CREDENTIALS_DIRECTORY",
            isPath: true,
            "Directory of the bearer tokens, one a file: token-NAME for ingest, read-token-NAME for the console."
        ) { (text) throws(SettingError) in
            CredentialsDirectory(try path(text), mustHoldTokens: true)
        },
        .flag("console", \.hasConsole, standard: true, "Serve the console at / and its API below /api/v1/."),
        .list(
            "console-users",
            \.consoleUsers,
            "user",
            isHotReloadable: true,
            "Users of the web configuration who may read the console; others get 403. All of them by default."
        ) { (text) throws(SettingError) in
            guard !text.isEmpty, text.utf8.count <= 256, !text.utf8.contains(UInt8(ascii: ":")) else {
                throw SettingError(expected: "the name of a user", found: text)
            }
            return text
        },
        .list(
            "cors-origin",
            \.allowedOrigins,
            "origin",
            isHotReloadable: true,
            "Origins of the web pages and WebViews that may post events, such as capacitor://localhost; others get 403."
        ) { (text) throws(SettingError) in try WebOrigin.allowed(text) },
        .flag("reload-endpoint", \.hasReloadEndpoint, "Reload the configuration on POST /-/reload."),
    ]

    /// An absolute path; the reader has resolved relative ones.
    @Sendable
    private static func path(_ text: String) throws(SettingError) -> String {
        guard text.utf8.allSatisfy({ $0 >= 0x20 }) else {
            throw SettingError("expected a path, found several lines or control characters")
        }
        guard text.hasPrefix("/"), text.utf8.count < 4_096 else {
            throw SettingError(expected: "a path", found: text)
        }
        return text
    }

    /// The same for a setting without a default.
    @Sendable
    private static func path(_ text: String) throws(SettingError) -> String? {
        let path: String = try path(text)
        return path
    }
}

extension Settings {
    /// The ledger and the journal.
    private static let storage: [Setting] = [
        .value(
            "state-dir",
            \.stateDirectory,
            "dir",
            standard: "$STATE_DIRECTORY, $XDG_STATE_HOME/dnp-telemetry or ~/.local/state/dnp-telemetry",
            isPath: true,
            "Directory of the ledger and the key.",
            path
        ),
        .value(
            "durability",
            \.durability,
            "kind",
            standard: "process",
            "What an acknowledged event survives: process (a kill of the service) or power (a loss of power)."
        ) { (text) throws(SettingError) in
            try SettingText.choice(text, LedgerDurability.allCases)
        },
        .value(
            "retention",
            \.retentionSeconds,
            "time",
            standard: "0",
            isHotReloadable: true,
            "How long batches stay in the ledger after they are counted and journaled."
        ) { (text) throws(SettingError) in
            try SettingText.duration(text, .zero ... .seconds(3_650 * 86_400)).components.seconds
        },
        .value(
            "journal",
            \.journal,
            "output",
            standard: "journald",
            "Where events go besides the ledger: journald, stdout (JSON lines) or off."
        ) { (text) throws(SettingError) in
            try SettingText.choice(text, ServeConfiguration.JournalMode.allCases)
        },
        .value(
            "journal-socket",
            \.journalSocket,
            "path",
            standard: "/run/systemd/journal/socket",
            isPath: true,
            "journald's socket.",
            path
        ),
    ]
}

extension Settings {
    /// Where metrics and events are sent.
    private static let exports: [Setting] = [
        .list(
            "export",
            \.exports,
            "destination",
            "Where to send metrics and events: otlp or remote-write, an address, and attributes separated by spaces."
        ) { (text) throws(SettingError) in try ExportSetting(text) },
        .size(
            "export-backlog",
            \.exportBacklog,
            standard: "1GiB",
            (16 << 20)...(1 << 50),
            "Size of the ledger up to which events wait for a destination; beyond it the oldest are dropped for it."
        ),
    ]
}

extension Settings {
    /// Log sources, and how their lines are read.
    private static let sources: [Setting] = [
        .list(
            "follow",
            \.followedFiles,
            "file",
            isPath: true,
            "Log files to follow across rotations, each a device of its own, or of the one in FILE installation=ID."
        ) { (text) throws(SettingError) in try followedFile(text) },
        .list(
            "follow-journal",
            \.followedJournal,
            "match",
            mayRepeat: true,
            "Matches of the journal whose entries are read as lines: FIELD=VALUE, or + between alternatives."
        ) { (text) throws(SettingError) in
            if text == "+" { return text }
            guard let equals = text.firstIndex(of: "="), JournalMatchText.isField(text[..<equals]) else {
                throw SettingError(expected: "a match such as SYSLOG_IDENTIFIER=app, or +", found: text)
            }
            return text
        },
        .value(
            "follow-journal-device",
            \.followedJournalDevice,
            "field",
            standard: "",
            "Field of the followed journal that names the device of an entry, such as CONTAINER_NAME."
        ) { (text) throws(SettingError) in
            guard JournalMatchText.isField(text[...]) else {
                throw SettingError(expected: "a field of the journal such as CONTAINER_NAME", found: text)
            }
            return text
        },
        .flag("stdin", \.readsStandardInput, "Read log lines from standard input; the service goes on after its end."),
        .flag(
            "single-device",
            \.sourcesAreDevices,
            "Each followed file, and standard input, comes from one device: its lines need no installation id."
        ),
        .list(
            "apps",
            \.takenApps,
            "app",
            "Apps whose events are taken: dnp (the plugin's prefetch), aiq (the background refresh). Both by default."
        ) { (text) throws(SettingError) in
            guard let app = App.allCases.first(where: { "\($0.name)" == text }) else {
                throw SettingError(expected: "dnp or aiq", found: text)
            }
            return app
        },
        .value(
            "timezone",
            \.zone,
            "zone",
            standard: "the machine's",
            "Time zone of log lines whose timestamps have none: Europe/Berlin, +02:00."
        ) { (text) throws(SettingError) in
            do throws(UnknownZone) {
                return try ZoneOffsets(named: text)
            } catch {
                throw SettingError(error.description)
            }
        },
        .value(
            "input-format",
            \.wrapper,
            "form",
            standard: "detected for each line",
            "Format that log lines are wrapped in: \(LineFormat.names.joined(separator: ", "))."
        ) { (text) throws(SettingError) in
            try SettingText.choice(text, LogWrapper.allCases)
        },
    ]

    /// `FILE` or `FILE installation=ID`.
    private static func followedFile(_ text: String) throws(SettingError) -> FollowedFile {
        guard let mark = text.firstRange(of: " installation=") else { return FollowedFile(try followedPath(text)) }
        var file = FollowedFile(try followedPath(String(text[..<mark.lowerBound])))
        let id = String(text[mark.upperBound...])
        guard (1...256).contains(id.utf8.count) else {
            throw SettingError(expected: "installation=ID with an id of 1 to 256 bytes", found: text)
        }
        file.installation = id
        return file
    }

    private static func followedPath(_ text: String) throws(SettingError) -> String {
        guard text != "-" else { throw SettingError("expected a file, found \"-\"; use stdin for it") }
        return try path(text)
    }
}

extension Settings {
    /// Upper limits.
    private static let limits: [Setting] = [
        .size("max-body", \.maximumBody, standard: "32MiB", 1...64 << 20, "Largest body of a request, as sent."),
        .size(
            "max-decompressed-body",
            \.maximumDecompressedBody,
            standard: "64MiB",
            1...256 << 20,
            "Largest body of a request once decompressed."
        ),
        .count(
            "max-compression-ratio",
            \.maximumCompressionRatio,
            standard: "200",
            2...10_000,
            "How many times larger than its gzip form a body of more than 1 MiB may be."
        ),
        .size(
            "max-bytes-in-flight",
            \.maximumBytesInFlight,
            standard: "192MiB",
            1 << 20...16 << 30,
            "Bytes of all bodies in flight; at least max-body and max-decompressed-body together."
        ),
        .size(
            "max-backlog",
            \.maximumBacklog,
            standard: "64MiB",
            1 << 20...16 << 30,
            "Bytes that may wait for the ledger."
        ),
        .count(
            "max-connections",
            \.maximumConnections,
            standard: "1024",
            1...1_000_000,
            "Connections served at once; more wait to be accepted."
        ),
        .value(
            "max-connections-per-client",
            \.maximumConnectionsPerClient,
            "count",
            standard: "half",
            isHotReloadable: true,
            "Connections of one client address served at once: half of all (on this machine half of them stalled), a number or off.",
            SettingText.share
        ),
        .count(
            "max-scrapes",
            \.maximumScrapes,
            standard: "100",
            1...10_000,
            "Scrapes answered at once; more are refused."
        ),
    ]

    /// Rate limits.
    private static let rates: [Setting] = [
        .value(
            "client-rate",
            \.clientRate,
            "rate",
            standard: "off",
            isHotReloadable: true,
            "Rate limit of the requests of one client address, such as 50/s."
        ) { (text) throws(SettingError) in
            try SettingText.unlessOff(text, SettingText.rate)
        },
        .tokenLimit,
    ]
}

extension Setting {
    /// The limits of tokens, by the name of the token.
    fileprivate static let tokenLimit = Setting(
        name: "token-limit",
        form: .list,
        placeholder: "name=rate",
        standard: "",
        help: "Rate limit of the events of a token, such as ios=500/s; other tokens have no limit of their own.",
        isHotReloadable: true,
        isPath: false,
        apply: { texts, configuration throws(SettingError) in
            var limits: [String: Double] = [:]
            _ = try values(texts) { (text) throws(SettingError) in
                guard let equals = text.lastIndex(of: "="), equals > text.startIndex else {
                    throw SettingError(expected: "a token's name and its rate, such as ios=500/s", found: text)
                }
                let name = String(text[..<equals])
                guard limits[name] == nil else { throw SettingError("found \"\(name.prefix(80))\" twice") }
                limits[name] = try SettingText.rate(String(text[text.index(after: equals)...]))
                return name
            }
            configuration.tokenLimits = limits
        },
        isEqual: { $0.tokenLimits == $1.tokenLimits },
        carry: { $1.tokenLimits = $0.tokenLimits }
    )
}

extension Settings {
    /// Timeouts, and the least rate within them.
    private static let times: [Setting] = [
        .time("header-timeout", \.headerTimeout, standard: "10s", "Time limit for receiving a request's head."),
        .time("body-timeout", \.bodyTimeout, standard: "1m", "Time limit for receiving a request's body."),
        .time("response-timeout", \.responseTimeout, standard: "1m", "Time limit for sending a response."),
        .time("idle-timeout", \.idleTimeout, standard: "75s", "Time after which an idle connection is closed."),
        .size(
            "min-transfer-rate",
            \.minimumTransferRate,
            standard: "1KiB",
            1...1 << 30,
            "Bytes a second at which a client must send a body and read a response, at least."
        ),
        .time(
            "transfer-grace",
            \.transferGrace,
            standard: "10s",
            "How far a client may fall behind min-transfer-rate before its connection is closed."
        ),
        .time(
            "max-commit-time",
            \.maximumCommitTime,
            standard: "5s",
            "Commit time above which new events are refused until commits are faster."
        ),
    ]
}

extension Settings {
    /// Metrics and the service's own log.
    private static let output: [Setting] = [
        .list(
            "label",
            \.labels,
            "label",
            "Additional labels of the lifecycle metrics: platform, app_version."
        ) { (text) throws(SettingError) in
            try SettingText.choice(text, LifecycleLabel.allCases)
        },
        .flag(
            "created-samples",
            \.createdSamples,
            standard: true,
            "Expose the creation time of counters and histograms, in OpenMetrics (_created) and protobuf."
        ),
        .value(
            "log-level",
            \.logLevel,
            "level",
            standard: "notice",
            isHotReloadable: true,
            "Lowest level of the service's own log: trace, debug, info, notice, warning (or warn), error or critical."
        ) { (text) throws(SettingError) in
            text == "warn" ? .warning : try SettingText.choice(text, Logger.Level.allCases)
        },
        .value(
            "log-format",
            \.logFormat,
            "form",
            standard: "text",
            "Form of the service's own log: text, logfmt or json. With the last two the start screen is a line of it."
        ) { (text) throws(SettingError) in
            try SettingText.choice(text, LogFormat.allCases)
        },
        .flag("quiet", \.isQuiet, "Print no start screen."),
    ]
}
