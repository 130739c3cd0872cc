// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import Export
internal import Journald
internal import LedgerState
package import LifecycleMetrics
package import Logging
internal import Synchronization
package import TelemetryEvents

/// The configuration of the service.
package struct ServeConfiguration: Sendable {
    /// Where events go besides the ledger.
    package enum JournalMode: String, Sendable, CaseIterable {
        /// To systemd-journald, each once, confirmed by reading back.
        case journald
        /// To standard output, as canonical JSON.
        case stdout
        /// Nowhere.
        case off
    }

    /// Every setting with its value and where it comes from, for the console; nil where no layers were read.
    var settings: EffectiveSettings?
    /// Where the service listens, and for what.
    package var listeners = [Listener(.address(host: "127.0.0.1", port: 10910))]
    /// The directory of the ledger and the key.
    package var stateDirectory: String
    /// Where events go besides the ledger.
    package var journal = JournalMode.journald
    /// journald's socket.
    package var journalSocket = JournalSocket.defaultPath
    /// What a commit survives before it is acknowledged.
    package var durability = LedgerDurability.process
    /// The largest body of a request in bytes, as sent.
    package var maximumBody = 32 << 20
    /// The largest body in bytes once decompressed.
    package var maximumDecompressedBody = 64 << 20
    /// How many times larger than its compressed form a body may be.
    package var maximumCompressionRatio = 200
    /// The bytes of all bodies in flight; more get 503.
    package var maximumBytesInFlight = 192 << 20
    /// The most connections served at once; more wait to be accepted.
    package var maximumConnections = 1_024
    /// How many connections of one client address are served at once.
    package var maximumConnectionsPerClient = ConnectionShare.half
    /// The most requests of one client address in a second; nil: no limit.
    package var clientRate: Double?
    /// The most events of a token in a second, by the token's name; other tokens have no limit of their own.
    package var tokenLimits: [String: Double] = [:]
    /// Time limit for receiving a request's head.
    package var headerTimeout = Duration.seconds(10)
    /// Time limit for receiving a request's body.
    package var bodyTimeout = Duration.seconds(60)
    /// Time limit for sending a response.
    package var responseTimeout = Duration.seconds(60)
    /// Time after which an idle connection is closed.
    package var idleTimeout = Duration.seconds(75)
    /// The bytes a second at which a client must send a body and read a response.
    package var minimumTransferRate = 1 << 10
    /// How far a client may fall behind ``minimumTransferRate``.
    package var transferGrace = Duration.seconds(10)
    /// The bytes that may wait for the ledger; more get 503.
    package var maximumBacklog = 64 << 20
    /// The commit time above which new events get 503 until commits are faster.
    package var maximumCommitTime = Duration.seconds(5)
    /// The directory of the tokens, one a file; nil: no tokens.
    package var credentialsDirectory: CredentialsDirectory?
    /// The file of TLS, users and headers, in the format of Prometheus' exporter-toolkit.
    package var webConfigurationFile: String?
    /// Whether `POST /-/reload` reloads the configuration.
    package var hasReloadEndpoint = false
    /// Whether the console and its API are served.
    package var hasConsole = true
    /// The users who may read the console; empty: all users of the web configuration.
    package var consoleUsers: [String] = []
    /// The origins of the pages that may post events.
    package var allowedOrigins: [WebOrigin] = []
    /// The path of the metrics, see ``MetricsPath``.
    package var metricsPath = MetricsPath.default
    /// The most scrapes answered at once; more get 503.
    package var maximumScrapes = 100
    /// Whether OpenMetrics and protobuf expose the creation time of counters and histograms.
    package var createdSamples = true
    /// The files whose lines are followed.
    package var followedFiles: [FollowedFile] = []
    /// The matches of the journal whose entries are read as lines: `FIELD=VALUE`, or `+` for "or"; empty: it is not read.
    package var followedJournal: [String] = []
    /// The field of the followed journal that names the device of an entry; nil: all entries are of one.
    package var followedJournalDevice: String?
    /// Whether standard input is read as lines until its end.
    package var readsStandardInput = false
    /// Whether each followed file, and standard input, comes from a single device.
    package var sourcesAreDevices = false
    /// The time zone of log lines whose timestamps have none.
    package var zone = ZoneOffsets.utc
    /// The apps whose events are taken.
    package var apps: Set<App> { takenApps.isEmpty ? Set(App.allCases) : Set(takenApps) }
    /// The apps that are named; empty: all.
    var takenApps: [App] = []
    /// The form in which log lines are wrapped; nil: detected for each line.
    package var wrapper: LogWrapper?
    /// The additional labels of the lifecycle metrics.
    package var labels: [LifecycleLabel] = []
    /// The lowest level of the service's own log.
    package var logLevel = Logger.Level.notice
    /// The form of the service's own log.
    package var logFormat = LogFormat.text
    /// Whether there is no start screen.
    package var isQuiet = false
    /// Where metrics and events are sent.
    package var exports: [ExportSetting] = []
    /// How many bytes of the ledger's database may be in use while batches wait for destinations.
    package var exportBacklog = 1 << 30
    /// The attributes of the resource that OpenTelemetry's variables name.
    package var resourceAttributes: [MetricsPage.Label] = []
    /// How long batches stay in the ledger after they are counted and journaled, in seconds.
    package var retentionSeconds: Int64 = 0

    /// A configuration with the documented defaults.
    package init(stateDirectory: String) {
        self.stateDirectory = stateDirectory
    }
}

extension ServeConfiguration {
    /// How log lines are read.
    func logOptions(isLive: Bool) -> LogDecoderOptions {
        var options = LogDecoderOptions(wrapper: wrapper, zone: zone, isLive: isLive)
        options.apps = apps
        return options
    }

    /// How the lines of a source are read that is read continuously; each is a device of its own.
    func logOptions(ofSource name: String, _ key: InstallationKey) -> LogDecoderOptions {
        var options = logOptions(isLive: true)
        let device = key.pseudonym(of: Array("device of \(name)".utf8).span)
        if sourcesAreDevices { options.installation = device } else { options.source = Pseudonym(deviceOf: device) }
        return options
    }

    /// How the lines of line sockets are read, whose clients are told of each event that is refused.
    func logOptions(ofLineSockets key: InstallationKey) -> LogDecoderOptions {
        var options = sourcesAreDevices ? logOptions(ofSource: "socket of lines", key) : logOptions(isLive: true)
        options.takesAllJSON = true
        return options
    }
}

/// A file whose lines are followed.
package struct FollowedFile: Hashable, Sendable {
    /// Its absolute path.
    package var path: String
    /// The installation of its lines and events that name none; nil: the file is a device of its own.
    package var installation: String?

    /// A file that is a device of its own.
    package init(_ path: String) {
        self.path = path
    }
}

/// The share of all connections that one client address may have.
package enum ConnectionShare: Hashable, Sendable {
    /// Half of them; for a client on this machine half of them without progress.
    case half
    /// A fixed number, also on the loopback.
    case count(Int)
    /// All of them.
    case all
}

/// The directory of the bearer tokens.
package struct CredentialsDirectory: Hashable, Sendable {
    /// Where it is.
    package var path: String
    /// Whether it was configured for tokens, and so must hold one at the start. Else it is the service manager's directory,
    /// which may hold other secrets only.
    package var mustHoldTokens: Bool

    /// A directory at a path.
    package init(_ path: String, mustHoldTokens: Bool) {
        self.path = path
        self.mustHoldTokens = mustHoldTokens
    }
}

/// The current configuration. Hot-reloadable settings are read from it each time they are needed.
package final class LiveConfiguration: Sendable {
    private let held: Mutex<ServeConfiguration>

    /// - Parameter configuration: what the service starts with.
    package init(_ configuration: ServeConfiguration) {
        held = Mutex(configuration)
    }

    /// The current configuration.
    package var current: ServeConfiguration { held.withLock { $0 } }

    /// Replaces it after a reload.
    package func replace(with configuration: ServeConfiguration) {
        held.withLock { $0 = configuration }
    }
}

/// The form of the lines of the service's own log.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message and `key=value`.
    case text
    /// `key=value` throughout, as Prometheus and Loki read it.
    case logfmt
    /// An object a line.
    case json
}
