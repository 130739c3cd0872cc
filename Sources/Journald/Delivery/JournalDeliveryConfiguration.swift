// SPDX-License-Identifier: Apache-2.0

/// What a ``ConfirmedJournalWriter`` delivers under which names, and its limits.
public struct JournalDeliveryConfiguration: Sendable {
    /// `SYSLOG_IDENTIFIER` of every entry; markers carry it with `-sync` behind.
    public var identifier: String
    /// The field that tells this stream from all others.
    public var streamField: JournalField
    /// The stream's name: no other writer may use it.
    public var stream: String
    /// The field that carries an entry's number, in decimal.
    public var sequenceField: JournalField
    /// The journal that takes the entries and from which they are read back.
    public var location: JournalLocation
    /// journald's socket.
    public var socketPath: String

    /// Entries handed over and not confirmed, at most; 1 to 65,536.
    public var windowEntries = 16_384
    /// Their bytes, at most; a single larger entry is still delivered.
    public var windowBytes = 8 << 20
    /// Entries in a datagram, at most.
    public var entriesPerDatagram = 64
    /// Bytes in a datagram, at most; a single larger entry is still delivered.
    public var bytesPerDatagram = 96 << 10
    /// Bytes of one entry, at most.
    public var maximumEntryBytes = 8 << 20
    /// How long a marker may take to come back.
    public var markerTimeout = Duration.seconds(5)
    /// How long entries may stay unconfirmed without any progress.
    public var confirmationTimeout = Duration.seconds(5)
    /// The first pause after trouble; doubled each time.
    public var firstPause = Duration.milliseconds(100)
    /// The longest pause before another try to connect.
    public var longestConnectPause = Duration.seconds(2)
    /// The longest pause before markers or lost entries are sent again.
    public var longestPause = Duration.seconds(30)
    /// How often a new cursor is taken for the checkpoint.
    public var cursorInterval = Duration.seconds(1)
    /// Entries of the whole journal that are looked through behind the checkpoint, at most; behind them only those
    /// of the stream are.
    public var scanLimit = 4_000_000
    /// How long the journal stays open and mapped when there is nothing to deliver.
    public var readerIdleTime = Duration.seconds(2)
    /// Entries read back before the journal is opened anew to give memory back, at most.
    public var readsPerOpening = 100_000

    /// A configuration with the default limits.
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
        self.stream = stream
        self.sequenceField = sequenceField
        self.location = location
        self.socketPath = socketPath ?? location.socketPath
    }
}
