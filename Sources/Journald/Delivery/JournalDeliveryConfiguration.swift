// SPDX-License-Identifier: Apache-2.0

internal import SystemPrimitives

/// The names and limits of a ``ConfirmedJournalWriter``.
public struct JournalDeliveryConfiguration: Sendable {
    /// `SYSLOG_IDENTIFIER` of every entry; markers have it with the suffix `-sync`.
    public var identifier: String
    /// The field that holds the stream's name.
    public var streamField: JournalField
    /// The stream's names, which no other writer may use.
    public var streams: StreamNames
    /// The last number that the journal may hold under the stream's newest name when the writer starts; all where it is
    /// not known.
    public var given = UInt64.max
    /// The field that holds an entry's number, in decimal.
    public var sequenceField: JournalField
    /// The journal from which entries are read back.
    public var location: JournalLocation
    /// journald's native socket, to which entries are sent.
    public var socketPath: String

    /// The maximum number of unconfirmed entries; 1 to 65,536.
    public var windowEntries = 16_384
    /// The maximum size of unconfirmed entries; a single larger entry is still delivered.
    public var windowBytes = 8 << 20
    /// The maximum number of entries in a datagram.
    public var entriesPerDatagram = 64
    /// The maximum size of a datagram; a single larger entry is still delivered.
    public var bytesPerDatagram = 96 << 10
    /// The maximum size of an entry.
    public var maximumEntryBytes = 8 << 20
    /// How long a marker may take until it is read back.
    public var markerTimeout = Duration.seconds(5)
    /// How long entries may stay unconfirmed without any progress.
    public var confirmationTimeout = Duration.seconds(5)
    /// The first pause after a failure; doubled with each further one.
    public var firstPause = Duration.milliseconds(100)
    /// The longest pause between two attempts to connect.
    public var longestConnectPause = Duration.seconds(2)
    /// The longest pause before markers or lost entries are sent again.
    public var longestPause = Duration.seconds(30)
    /// The interval at which the checkpoint advances.
    public var cursorInterval = Duration.seconds(1)
    /// The maximum number of entries of all streams with this identifier that a scan reads behind the checkpoint, before
    /// it continues with those of the stream.
    public var scanLimit = 4_000_000
    /// How long the journal stays open while there is nothing to deliver.
    public var readerIdleTime = Duration.seconds(2)
    /// The maximum number of entries read back before the journal is reopened to release memory.
    public var readsPerOpening = 100_000

    /// A configuration with the default limits, for a stream with one name.
    public init(
        identifier: String,
        streamField: JournalField,
        stream: String,
        sequenceField: JournalField,
        location: JournalLocation = .machine,
        socketPath: String? = nil
    ) {
        self.identifier = identifier
        self.streamField = streamField
        streams = StreamNames(stream)
        self.sequenceField = sequenceField
        self.location = location
        self.socketPath = socketPath ?? location.socketPath
    }
}

/// The limits of a ``DeliverySession``; times in nanoseconds.
struct DeliveryLimits: Sendable {
    /// The maximum window of any writer, which bounds how far back a scan has to read.
    static let widestWindow = 65_536

    let windowEntries: Int
    let windowBytes: Int
    let entriesPerDatagram: Int
    let bytesPerDatagram: Int
    let markerTimeout: UInt64
    let confirmationTimeout: UInt64
    let connecting: Backoff
    let resending: Backoff

    init(_ configuration: JournalDeliveryConfiguration) {
        windowEntries = max(1, min(configuration.windowEntries, Self.widestWindow))
        windowBytes = max(1, configuration.windowBytes)
        entriesPerDatagram = max(1, min(configuration.entriesPerDatagram, windowEntries))
        bytesPerDatagram = max(1, configuration.bytesPerDatagram)
        let millisecond: UInt64 = 1_000_000
        markerTimeout = max(millisecond, configuration.markerTimeout.clampedNanoseconds)
        confirmationTimeout = max(millisecond, configuration.confirmationTimeout.clampedNanoseconds)
        let first = max(millisecond, configuration.firstPause.clampedNanoseconds)
        connecting = Backoff(first: first, longest: max(first, configuration.longestConnectPause.clampedNanoseconds))
        resending = Backoff(first: first, longest: max(first, configuration.longestPause.clampedNanoseconds))
    }
}

/// Exponential backoff: a pause that doubles with every failure up to a limit, with up to a quarter of jitter.
struct Backoff: Sendable {
    /// Nanoseconds.
    let first: UInt64
    /// Nanoseconds.
    let longest: UInt64

    /// The pause after a number of failures in a row, at least 1, in nanoseconds.
    func pause(failures: Int, random: UInt64) -> UInt64 {
        let doublings = UInt64(max(1, min(failures, 41)) - 1)
        let (product, overflow) = first.multipliedReportingOverflow(by: 1 << doublings)
        let pause = overflow ? longest : min(product, longest)
        return pause - (pause / 4).multipliedFullWidth(by: random).high
    }
}
