// SPDX-License-Identifier: Apache-2.0

/// Decides what a writer does next so that each entry stands in the journal exactly once. No I/O and no clock: facts
/// and the time come in, steps come out.
///
/// What makes it safe: a journald takes datagrams in the order in which they were queued. Once a marker has been read
/// back, all that was queued before it, by this process or one that was killed, has been stored or dropped; what isn't
/// found in the journal then never will be, and may be sent again. Hence every trouble leads through the same gate:
/// connect, markers, scan, and only then entries.
struct DeliverySession: Sendable {
    enum Phase: Equatable, Sendable {
        /// Pausing after a failure.
        case absent(until: UInt64, orRoom: Bool)
        case connecting
        case marking(MarkerDatagram, deadline: UInt64, isBlocked: Bool)
        case awaitingMarkers(deadline: UInt64)
        case scanning
        case streaming
    }

    let limits: DeliveryLimits
    var random: SplitMix
    var phase = Phase.connecting
    /// All entries up to this one stand in the journal.
    var confirmed: UInt64
    /// Numbers above ``confirmed`` that stand in the journal, or that the source leaves out.
    var standing = SequenceRanges()
    /// The last number that has been handed over, was found standing or is left out, since the last scan.
    var handled: UInt64
    /// The last number that was ever handed over.
    var highestSent: UInt64
    var log = DatagramLog()
    var statistics = JournalDeliveryStatistics()

    /// Synchronisations in a row without an answer.
    var unanswered = 0
    /// Failures since an entry was last confirmed.
    var failures = 0
    /// How often entries were lost, taken back as confirmations come.
    var losses = 0
    var confirmedSinceLoss = 0
    /// Counts synchronisations, to tell their markers apart.
    var attempt: UInt64 = 0

    var isBlocked = false
    var isDrained = false
    /// An entry came back although one sent before it hasn't.
    var hasGap = false
    var lastProgress: UInt64 = 0
    var resumeTime: UInt64 = 0
    var sourceFailures = 0

    init(limits: DeliveryLimits, confirmed: UInt64, seed: UInt64) {
        self.limits = limits
        self.confirmed = confirmed
        handled = confirmed
        highestSent = confirmed
        random = SplitMix(seed: seed)
    }

    /// Whether entries are handed over and not confirmed.
    var hasUnconfirmed: Bool { handled > confirmed }

    /// Whether the journal holds nothing above ``confirmed`` that has been read before.
    var isSettled: Bool { standing.isEmpty }

    var state: JournalDeliveryState {
        switch phase {
        case .absent: .absent
        case .connecting, .marking, .awaitingMarkers: unanswered > 0 ? .absent : .synchronising
        case .scanning: .synchronising
        case .streaming: .streaming
        }
    }

    /// The statistics as of now.
    var snapshot: JournalDeliveryStatistics {
        var statistics = statistics
        statistics.state = state
        statistics.position = confirmed
        statistics.unconfirmed = handled - confirmed
        return statistics
    }

    /// What to do next.
    mutating func step(now: UInt64) -> DeliveryStep {
        switch phase {
        case .absent(let until, let orRoom):
            guard now >= until else { return .wait(until: until, forRoom: orRoom) }
            phase = .connecting
            return .connect
        case .connecting:
            return .connect
        case .marking(let datagram, let deadline, let isBlocked):
            guard now < deadline else {
                fail(now: now, pause: limits.resending, orRoom: isBlocked)
                return step(now: now)
            }
            return isBlocked ? .wait(until: deadline, forRoom: true) : .sendMarkers(datagram)
        case .awaitingMarkers(let deadline):
            guard now < deadline else {
                fail(now: now, pause: limits.resending)
                return step(now: now)
            }
            return .lookForMarkers(until: deadline)
        case .scanning:
            return .scan
        case .streaming:
            return stream(now: now)
        }
    }

    /// There is something new in the source.
    mutating func sourceWoke() {
        isDrained = false
    }

    /// journald's queue has room again.
    mutating func roomCame(now: UInt64) {
        switch phase {
        case .absent(_, orRoom: true): phase = .connecting
        case .marking(let datagram, let deadline, _): phase = .marking(datagram, deadline: deadline, isBlocked: false)
        case .streaming: isBlocked = false
        default: break
        }
    }

    /// Anything went wrong that leaves it open what journald has stored: reading, sending, scanning.
    mutating func failed(now: UInt64) {
        fail(now: now, pause: limits.resending)
    }

    mutating func fail(now: UInt64, pause backoff: Backoff, orRoom: Bool = false) {
        failures += 1
        unanswered += 1
        let pause = backoff.pause(failures: failures, random: random.next())
        phase = .absent(until: now + pause, orRoom: orRoom)
    }
}
