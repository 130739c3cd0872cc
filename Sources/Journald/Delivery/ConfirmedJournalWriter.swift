// SPDX-License-Identifier: Apache-2.0

internal import SystemPrimitives

/// Delivers numbered entries into the journal, each exactly once, and confirms them by reading them back.
///
/// A thread of its own sends entries from a ``JournalSource`` and reads the journal. A stopped, killed or stalled
/// journald, a rate limit or a full disk only delay it; no call here waits for journald. Restarted from an old
/// checkpoint, it finds out what the journal holds and sends the rest.
///
/// Only one writer may deliver a stream at a time.
public final class ConfirmedJournalWriter: Sendable {
    private let control: DeliveryControl
    private let thread: NamedThread

    /// Starts a writer.
    ///
    /// - Parameters:
    ///   - configuration: Names and limits.
    ///   - checkpoint: Where to resume, as ``checkpoint`` or ``stop(within:)`` gave it; it may be old.
    ///   - source: Gives the entries.
    ///   - onConfirmed: Called on the writer's thread with the number up to which the journal holds all entries,
    ///     whenever it has grown, by any number of entries. It should return soon.
    ///   - onCompared: Called on the writer's thread after each scan of the journal, before anything is sent. It returns
    ///     the names of the stream from now on, nil for those so far: where the newest name has numbers that the writer
    ///     never gave, its own need another. When it throws, the writer synchronises again after a pause.
    public init(
        _ configuration: JournalDeliveryConfiguration,
        from checkpoint: JournalCheckpoint,
        source: any JournalSource,
        onConfirmed: @escaping @Sendable (UInt64) -> Void = { _ in },
        onCompared: @escaping @Sendable (JournalComparison) throws -> StreamNames? = { _ in nil }
    ) throws(JournalWriterError) {
        let names =
            [("identifier", configuration.identifier)] + configuration.streams.parts.map { ("stream", $0.name) }
        for (name, value) in names where value.isEmpty || value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw .name(name, value: value)
        }
        let control: DeliveryControl
        do throws(SystemError) {
            control = try DeliveryControl(checkpoint: checkpoint)
        } catch {
            throw .resources(error)
        }
        self.control = control
        do throws(ErrorNumber) {
            thread = try NamedThread(name: "journal-writer") {
                DeliveryDriver(configuration, checkpoint, source, control, onCompared, onConfirmed).run()
                control.ended()
            }
        } catch {
            throw .resources(SystemError(code: error.code))
        }
    }

    deinit {
        control.end(.now)
        thread.join()
    }

    /// Wakes the writer, because the source has more entries.
    public func wake() {
        control.wakeDescriptor.wake()
    }

    /// What the writer has done so far.
    public var statistics: JournalDeliveryStatistics { control.statistics }

    /// Where a new writer would resume; store it at any interval.
    ///
    /// It lags behind ``JournalDeliveryStatistics/position`` by up to the configured interval.
    public var checkpoint: JournalCheckpoint { control.checkpoint }

    /// Stops the writer after it has delivered what it can in the given time; nothing when journald is absent.
    ///
    /// - Returns: Where a new writer resumes.
    public func stop(within limit: Duration) async -> JournalCheckpoint {
        control.end(.draining(until: SystemClock.monotonicNanoseconds() + limit.clampedNanoseconds))
        return await control.waitForEnd()
    }
}

/// The entries of a ``ConfirmedJournalWriter``: numbered, and readable again until they are confirmed.
public protocol JournalSource: Sendable {
    /// Appends the entries that follow a number, in ascending order.
    ///
    /// Called on the writer's thread, again for the same entries when some of them were lost. A number missing between
    /// two entries is skipped for good. Stop when the buffer is full. Append nothing when there is nothing more; the
    /// writer calls again after ``ConfirmedJournalWriter/wake()``.
    ///
    /// - Parameters:
    ///   - sequence: The number after which to start.
    ///   - limit: The maximum number of entries, at least 1.
    ///   - buffer: Takes the entries; empty at the call. It adds the stream, the number and the identifier itself.
    /// - Throws: Any error; it is shown in the statistics, and the call is retried after a pause.
    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws
}

/// Where a ``ConfirmedJournalWriter`` resumes after a restart.
public struct JournalCheckpoint: Hashable, Sendable {
    /// The journal holds all entries up to this number.
    public let position: UInt64
    /// A cursor that every entry above ``position`` follows; nil when none is known.
    ///
    /// It may be old, and its file may be gone: it only shortens the scan.
    public let cursor: String?

    /// The checkpoint of a new stream.
    public static let start = JournalCheckpoint(position: 0, cursor: nil)

    /// A checkpoint as it was stored.
    public init(position: UInt64, cursor: String?) {
        self.position = position
        self.cursor = cursor
    }
}

/// The state of a ``ConfirmedJournalWriter``.
public enum JournalDeliveryState: String, Hashable, Sendable, CaseIterable {
    /// journald does not answer; the writer retries after a pause.
    case absent
    /// The writer is finding out what journald has stored.
    case synchronising
    /// The writer sends entries and reads them back.
    case streaming
}

/// What a ``ConfirmedJournalWriter`` has done since it started.
public struct JournalDeliveryStatistics: Hashable, Sendable {
    /// The writer's state.
    public internal(set) var state = JournalDeliveryState.absent
    /// The journal holds all entries up to this number.
    public internal(set) var position: UInt64 = 0
    /// Entries sent, including those sent again.
    public internal(set) var written: UInt64 = 0
    /// Entries found in the journal, including those of an earlier writer.
    public internal(set) var confirmed: UInt64 = 0
    /// Entries sent again.
    public internal(set) var retried: UInt64 = 0
    /// Entries that journald is proven to have dropped; they are sent again.
    public internal(set) var lost: UInt64 = 0
    /// Numbers that the source skipped.
    public internal(set) var skipped: UInt64 = 0
    /// Entries read back more than once.
    public internal(set) var repeated: UInt64 = 0
    /// Entries sent and not confirmed yet.
    public internal(set) var unconfirmed: UInt64 = 0
    /// Connections after the first one.
    public internal(set) var reconnects: UInt64 = 0
    /// How often the writer began to find out what journald has stored.
    public internal(set) var synchronisations: UInt64 = 0
    /// Whether journald is proven to store several entries of one datagram.
    public internal(set) var isBatchingProven = false
    /// The text of the last error.
    public internal(set) var lastError: String?
}

/// Why a ``ConfirmedJournalWriter`` could not start.
public enum JournalWriterError: Error, Hashable, CustomStringConvertible {
    /// A name in the configuration is empty or has a line break or another control character.
    case name(String, value: String)
    /// The process got no thread or descriptor.
    case resources(SystemError)

    /// The problem and what to do about it.
    public var description: String {
        switch self {
        case .name(let setting, let value):
            "the \(setting) \"\(value)\" is empty or has control characters; give it a printable name"
        case .resources(let error):
            "no thread or descriptor for the journal writer: \(error); check the process's limits"
        }
    }
}
