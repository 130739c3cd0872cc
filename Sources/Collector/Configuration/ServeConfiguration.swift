// SPDX-License-Identifier: Apache-2.0

package import EventLedger
internal import Journald
internal import LedgerState
package import LifecycleMetrics
package import Logging
internal import Synchronization
package import TelemetryEvents

/// How the service runs.
package struct ServeConfiguration: Sendable {
    /// Where events go besides the ledger (SPEC 9).
    package enum JournalMode: String, Sendable, CaseIterable {
        /// To systemd-journald, each once, confirmed by reading back.
        case journald
        /// To standard output, as canonical JSON.
        case stdout
        /// Nowhere.
        case off
    }

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
    /// The bytes of all bodies that are worked on at once; more are answered 503.
    package var maximumBytesInFlight = 192 << 20
    /// How many connections are served at once; more wait to be accepted.
    package var maximumConnections = 1_024
    /// How many connections of one client address are served at once.
    package var maximumConnectionsPerClient = ConnectionShare.half
    /// How many requests of one client address are answered in a second; nil: any number.
    package var clientRate: Double?
    /// How many events of a token are taken in a second, by the token's name; others have no limit of their own.
    package var tokenLimits: [String: Double] = [:]
    /// Time limit for receiving a request's head.
    package var headerTimeout = Duration.seconds(10)
    /// Time limit for receiving a request's body.
    package var bodyTimeout = Duration.seconds(60)
    /// Time limit for sending a response.
    package var responseTimeout = Duration.seconds(60)
    /// Time after which an idle connection is closed.
    package var idleTimeout = Duration.seconds(75)
    /// How many bytes may wait for the ledger; more are answered 503.
    package var maximumBacklog = 64 << 20
    /// Above which time for a commit new events are answered 503 until it is shorter.
    package var maximumCommitTime = Duration.seconds(5)
    /// The directory of the tokens, one a file; nil: no tokens.
    package var credentialsDirectory: CredentialsDirectory?
    /// The file that tells of TLS, users and headers, in the form of Prometheus' exporter-toolkit.
    package var webConfigurationFile: String?
    /// Whether `POST /-/reload` reads the configuration anew.
    package var hasReloadEndpoint = false
    /// The path of the metrics, see ``MetricsPath``.
    package var metricsPath = MetricsPath.default
    /// How many scrapes are answered at once; more are answered 503.
    package var maximumScrapes = 100
    /// Whether OpenMetrics and protobuf tell when each counter and histogram began.
    package var createdSamples = true
    /// The files whose lines are followed, as absolute paths.
    package var followedFiles: [String] = []
    /// The matches of the journal whose entries are read as lines: `FIELD=VALUE`, or `+` for "or"; empty: it is not read.
    package var followedJournal: [String] = []
    /// Whether standard input is read as lines until its end.
    package var readsStandardInput = false
    /// Whether each followed file, and standard input, comes from a single device.
    package var sourcesAreDevices = false
    /// The zone of log lines whose stamps name none.
    package var zone = ZoneOffsets.utc
    /// The form in which log lines are wrapped; nil: detected for each line.
    package var wrapper: LogWrapper?
    /// What the metrics of the lifecycle are told apart by, besides their own labels.
    package var labels: [LifecycleLabel] = []
    /// The lowest level of the service's own log.
    package var logLevel = Logger.Level.notice
    /// Whether there is no start screen.
    package var isQuiet = false
    /// How long batches stay in the ledger once nothing needs them, in seconds.
    package var retentionSeconds: Int64 = 0

    /// A configuration with the documented defaults.
    package init(stateDirectory: String) {
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

/// How many of all connections one client address may have.
package enum ConnectionShare: Hashable, Sendable {
    /// Half of them, and of the loopback all.
    case half
    /// So many, also of the loopback.
    case count(Int)
    /// All of them.
    case all
}

/// The directory in which the tokens are looked for.
package struct CredentialsDirectory: Hashable, Sendable {
    /// Where it is.
    package var path: String
    /// Whether it was told for its tokens, of which it must hold one at the start then. Else it is the service manager's,
    /// which may hand over other secrets only.
    package var mustHoldTokens: Bool

    /// A directory at a path.
    package init(_ path: String, mustHoldTokens: Bool) {
        self.path = path
        self.mustHoldTokens = mustHoldTokens
    }
}

/// The configuration of this moment: what can change while the service runs is read here each time it is needed.
package final class LiveConfiguration: Sendable {
    private let held: Mutex<ServeConfiguration>

    /// - Parameter configuration: what the service starts with.
    package init(_ configuration: ServeConfiguration) {
        held = Mutex(configuration)
    }

    /// The configuration of this moment.
    package var current: ServeConfiguration { held.withLock { $0 } }

    /// Replaces it, once it has been read anew.
    package func replace(with configuration: ServeConfiguration) {
        held.withLock { $0 = configuration }
    }
}
