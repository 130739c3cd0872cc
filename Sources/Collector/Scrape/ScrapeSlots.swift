// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import NIOCore
internal import Synchronization

/// Limits how many scrapes are answered concurrently.
///
/// At the limit, a scrape whose client has stalled its answer for longest gives way to a new one, so that clients that
/// read nothing don't keep others out.
final class ScrapeSlots: Sendable {
    struct Limits: Hashable, Sendable {
        var slots: Int
        /// How long a client may read nothing of its answer where others need the slot.
        var stall: TimeAmount
    }

    /// The slot of one scrape, held until it is given back or deinitialised.
    final class Slot: Sendable {
        private let slots: ScrapeSlots
        private let holder: Holder

        fileprivate init(_ slots: ScrapeSlots, _ holder: Holder) {
            self.slots = slots
            self.holder = holder
        }

        deinit { giveBack() }

        /// Notes that the page is rendered, or a piece of it was taken.
        func progressed(at now: NIODeadline) {
            holder.progress.store(now.uptimeNanoseconds, ordering: .relaxed)
        }

        func giveBack() { slots.remove(holder) }
    }

    fileprivate final class Holder: Sendable {
        let connection: any Channel
        /// Nanoseconds of the monotonic clock; the largest number while the page is rendered.
        let progress = Atomic(UInt64.max)

        init(_ connection: any Channel) { self.connection = connection }
    }

    private let limits: @Sendable () -> Limits
    private let holders = Mutex<[ObjectIdentifier: Holder]>([:])
    private let gauge: Gauge

    /// - Parameters:
    ///   - limits: Read at each scrape.
    ///   - gauge: Shows how many slots are taken.
    init(_ limits: @escaping @Sendable () -> Limits, gauge: Gauge) {
        self.limits = limits
        self.gauge = gauge
    }

    /// Takes a slot; nil when all are taken.
    ///
    /// - Returns: Also the connection that has lost the slot, to be closed.
    func take(for connection: any Channel, at now: NIODeadline) -> (slot: Slot, stalled: (any Channel)?)? {
        let limits = limits()
        let holder = Holder(connection)
        let (isTaken, stalled) = holders.withLock { holders -> (Bool, Holder?) in
            var stalled: Holder?
            if holders.count >= limits.slots {
                stalled = Self.stalled(holders, before: now - limits.stall)
                guard let stalled else { return (false, nil) }
                holders[ObjectIdentifier(stalled)] = nil
            }
            holders[ObjectIdentifier(holder)] = holder
            gauge.set(holders.count)
            return (true, stalled)
        }
        guard isTaken else { return nil }
        return (slot: Slot(self, holder), stalled: stalled?.connection)
    }

    /// The one without progress for longest.
    private static func stalled(_ holders: [ObjectIdentifier: Holder], before limit: NIODeadline) -> Holder? {
        var longest: (holder: Holder, progress: UInt64)?
        for holder in holders.values {
            let progress = holder.progress.load(ordering: .relaxed)
            guard progress <= limit.uptimeNanoseconds, progress < longest?.progress ?? .max else { continue }
            longest = (holder, progress)
        }
        return longest?.holder
    }

    private func remove(_ holder: Holder) {
        holders.withLock { holders in
            holders[ObjectIdentifier(holder)] = nil
            gauge.set(holders.count)
        }
    }
}

extension ScrapeSlots.Limits {
    init(_ configuration: ServeConfiguration) {
        let grace = TimeAmount(configuration.transferGrace)
        self.init(
            slots: configuration.maximumScrapes,
            stall: TransferLimits(bytesPerSecond: configuration.minimumTransferRate, grace: grace).stall
        )
    }
}
