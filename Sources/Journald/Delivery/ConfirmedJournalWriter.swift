// SPDX-License-Identifier: Apache-2.0

/// Delivers numbered entries into the journal, each exactly once, and confirms them by reading them back.
///
/// A thread of its own sends entries from a ``JournalSource`` and reads the journal. A stopped, killed or stalled
/// journald, a rate limit or a full disk only delay it; nothing that a caller does here waits for journald. Restarted
/// from an old checkpoint, it finds out what stands already and sends the rest.
///
/// Only one writer may deliver a stream at a time.
public final class ConfirmedJournalWriter: Sendable {
    private let control: DeliveryControl
    private let thread: DeliveryThread

    /// A writer that starts at once.
    ///
    /// - Parameters:
    ///   - configuration: Names and limits.
    ///   - checkpoint: From where to go on, as ``checkpoint`` or ``stop(within:)`` gave it; it may be old.
    ///   - source: Gives the entries.
    ///   - onConfirmed: Called on the writer's thread with the number up to which all entries stand in the journal,
    ///     each time that it has grown, after any number of entries. It should return soon.
    public init(
        _ configuration: JournalDeliveryConfiguration,
        from checkpoint: JournalCheckpoint,
        source: any JournalSource,
        onConfirmed: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) throws(JournalWriterError) {
        let names = [("identifier", configuration.identifier), ("stream", configuration.stream)]
        for (name, value) in names where value.isEmpty || value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw .name(name, value: value)
        }
        do {
            let control = try DeliveryControl(checkpoint: checkpoint)
            self.control = control
            thread = try DeliveryThread(name: "journal-writer") {
                DeliveryDriver(configuration, checkpoint, source, control, onConfirmed).run()
                control.ended()
            }
        } catch {
            throw .resources(error)
        }
    }

    deinit {
        control.end(.now)
        thread.join()
    }

    /// Tells the writer that the source has more.
    public func wake() {
        control.wakeDescriptor.wake()
    }

    /// What the writer has done so far.
    public var statistics: JournalDeliveryStatistics { control.statistics }

    /// From where a new writer would go on; to be kept at leisure.
    ///
    /// It trails behind ``JournalDeliveryStatistics/position`` by up to the configured interval.
    public var checkpoint: JournalCheckpoint { control.checkpoint }

    /// Ends the writer, delivering first what can be delivered in the given time; none when journald is absent.
    ///
    /// - Returns: From where a new writer goes on.
    public func stop(within limit: Duration) async -> JournalCheckpoint {
        control.end(.draining(until: MonotonicClock.now() + limit.nanoseconds))
        return await control.waitForEnd()
    }
}
