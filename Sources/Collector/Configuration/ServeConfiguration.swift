// SPDX-License-Identifier: Apache-2.0

public import EventLedger
internal import Journald
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

    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 takes a free one.
    public var port = 10910
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
    /// The path of the metrics, see ``MetricsPath``.
    public var metricsPath = MetricsPath.default
    /// How many scrapes are answered at once; more are answered 503.
    public var maximumScrapes = 100
    /// Whether OpenMetrics and protobuf tell when each counter and histogram began.
    public var createdSamples = true
    /// The files whose lines are followed, as absolute paths.
    public var followedFiles: [String] = []
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
