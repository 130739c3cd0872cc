// SPDX-License-Identifier: Apache-2.0

public import EventLedger
internal import Journald
public import Logging
public import TelemetryEvents

/// How the service runs.
public struct ServeConfiguration: Sendable {
    /// Where events go besides the ledger (SPEC 9).
    public enum JournalMode: String, Sendable, CaseIterable {
        /// To systemd-journald, each once, confirmed by reading back.
        case journald
        /// To standard output, as canonical JSON.
        case stdout
        /// Nowhere.
        case off
    }

    /// Where the service listens, and for what.
    public var listeners = [Listener(.address(host: "127.0.0.1", port: 10910))]
    /// The directory of the ledger and the key.
    public var stateDirectory: String
    /// Where events go besides the ledger.
    public var journal = JournalMode.journald
    /// journald's socket.
    public var journalSocket = JournalSocket.defaultPath
    /// What a commit survives before it is acknowledged.
    public var durability = LedgerDurability.process
    /// The largest body of a request in bytes, as sent.
    public var maximumBody = 32 << 20
    /// The largest body in bytes once decompressed.
    public var maximumDecompressedBody = 64 << 20
    /// How many times larger than its compressed form a body may be.
    public var maximumCompressionRatio = 200
    /// The bytes of all bodies that are worked on at once; more are answered 503.
    public var maximumBytesInFlight = 192 << 20
    /// How many connections are served at once; more wait to be accepted.
    public var maximumConnections = 1_024
    /// How many connections of one client address are served at once.
    public var maximumConnectionsPerClient = ConnectionShare.half
    /// How many requests of one client address are answered in a second; nil: any number.
    public var clientRate: Double?
    /// How many events of a token are taken in a second, by the token's name; others have no limit of their own.
    public var tokenLimits: [String: Double] = [:]
    /// In which time a request's head must have come.
    public var headerTimeout = Duration.seconds(10)
    /// In which time a request's body must have come.
    public var bodyTimeout = Duration.seconds(60)
    /// In which time an answer must have been taken.
    public var responseTimeout = Duration.seconds(60)
    /// How long a connection may be silent between requests.
    public var idleTimeout = Duration.seconds(75)
    /// How many bytes may wait for the ledger; more are answered 503.
    public var maximumBacklog = 64 << 20
    /// Above which time for a commit new events are answered 503 until it is shorter.
    public var maximumCommitTime = Duration.seconds(5)
    /// The directory of the tokens, one a file; nil: no tokens.
    public var credentialsDirectory: CredentialsDirectory?
    /// The file that tells of TLS, users and headers, in the form of Prometheus' exporter-toolkit.
    public var webConfigurationFile: String?
    /// Whether `POST /-/reload` reads the configuration anew.
    public var hasReloadEndpoint = false
    /// The path of the metrics, see ``MetricsPath``.
    public var metricsPath = MetricsPath.default
    /// How many scrapes are answered at once; more are answered 503.
    public var maximumScrapes = 100
    /// Whether OpenMetrics and protobuf tell when each counter and histogram began.
    public var createdSamples = true
    /// The files whose lines are followed, as absolute paths.
    public var followedFiles: [String] = []
    /// The matches of the journal whose entries are read as lines: `FIELD=VALUE`, or `+` for "or"; empty: it is not read.
    public var followedJournal: [String] = []
    /// Whether standard input is read as lines until its end.
    public var readsStandardInput = false
    /// Whether each followed file, and standard input, comes from a single device.
    public var sourcesAreDevices = false
    /// The zone of log lines whose stamps name none.
    public var zone = ZoneOffsets.utc
    /// The form in which log lines are wrapped; nil: told apart line by line.
    public var wrapper: LogWrapper?
    /// What the metrics of the lifecycle are told apart by, besides their own labels.
    public var labels: [LifecycleLabel] = []
    /// The lowest level of the service's own log.
    public var logLevel = Logger.Level.notice
    /// Whether there is no start screen.
    public var isQuiet = false
    /// How long batches stay in the ledger once nothing needs them, in seconds.
    public var retentionSeconds: Int64 = 0

    /// A configuration with the documented defaults.
    public init(stateDirectory: String) {
        self.stateDirectory = stateDirectory
    }
}

extension ServeConfiguration {
    /// How log lines are read.
    func logOptions(isLive: Bool) -> LogDecoderOptions {
        LogDecoderOptions(wrapper: wrapper, zone: zone, isLive: isLive)
    }

    /// How the lines of a source are read that is read continuously.
    func logOptions(ofSource name: String, _ key: InstallationKey) -> LogDecoderOptions {
        var options = logOptions(isLive: true)
        if sourcesAreDevices { options.installation = key.pseudonym(of: Array("device of \(name)".utf8).span) }
        return options
    }
}
