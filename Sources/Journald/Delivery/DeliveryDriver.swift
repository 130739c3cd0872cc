// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Carries out the steps of a ``DeliverySession``: all I/O of a writer, on the writer's thread.
final class DeliveryDriver {
    /// Entries read back before entries are sent again.
    static let entriesPerTurn = 4_096
    /// Entries taken from the source at once.
    static let entriesPerRead = 1_024
    /// The pauses between looks into the journal while something is expected there, in nanoseconds: journald
    /// announces entries up to 250 ms late, but they can be read at once.
    static let firstLook: UInt64 = 1_000_000
    static let longestLook: UInt64 = 50_000_000

    let configuration: JournalDeliveryConfiguration
    let source: any JournalSource
    let control: DeliveryControl
    let onConfirmed: @Sendable (UInt64) -> Void
    let markers: DeliveryMarkers
    let streamValue: [UInt8]

    var session: DeliverySession
    var checkpoint: JournalCheckpoint
    var checkpointTime: UInt64 = 0
    var buffer: JournalEntryBuffer
    var nextEntry = 0
    var socket: JournalSocket?
    var reader: JournalReader?
    /// Where the last marker stands; everything of this writer comes behind it.
    var markerCursor: String?
    var lookPause = DeliveryDriver.firstLook
    var journalChanged = false
    /// Sends in a row for which poll(2) had told of room and there was none.
    var vainSends = 0
    /// Whether the reader stands on an entry of the stream.
    var hasRead = false
    var readsSinceOpening = 0
    /// When an entry was last underway.
    var lastActivity: UInt64 = 0
    var nextLook: UInt64 = 0
    var looks = 0
    var announced: UInt64
    var connections: UInt64 = 0
    var lastError: String?

    init(
        _ configuration: JournalDeliveryConfiguration,
        _ checkpoint: JournalCheckpoint,
        _ source: any JournalSource,
        _ control: DeliveryControl,
        _ onConfirmed: @escaping @Sendable (UInt64) -> Void
    ) {
        var random = SystemRandomNumberGenerator()
        self.configuration = configuration
        self.checkpoint = checkpoint
        self.source = source
        self.control = control
        self.onConfirmed = onConfirmed
        announced = checkpoint.position
        markers = DeliveryMarkers(identifier: configuration.identifier, random: &random)
        streamValue = Array(configuration.stream.utf8)
        session = DeliverySession(
            limits: DeliveryLimits(configuration),
            confirmed: checkpoint.position,
            seed: random.next()
        )
        buffer = JournalEntryBuffer(
            constant: [
                (configuration.streamField, configuration.stream), (.syslogIdentifier, configuration.identifier),
            ],
            sequenceField: configuration.sequenceField,
            maximumEntryBytes: configuration.maximumEntryBytes,
            maximumBytes: min(configuration.windowBytes, 1 << 20)
        )
    }

    /// Runs until the writer is asked to end.
    func run() {
        while !mustEnd() {
            follow()
            perform(session.step(now: MonotonicClock.now()))
            publish()
        }
        takeCheckpoint(now: MonotonicClock.now(), interval: 0)
        publish()
    }

    /// Whether to leave a long piece of work, and then everything.
    var mustHurry: Bool {
        switch control.ending {
        case .no: false
        case .draining(let until): MonotonicClock.now() >= until
        case .now: true
        }
    }

    private func mustEnd() -> Bool {
        switch control.ending {
        case .no: false
        case .now: true
        case .draining(let until):
            switch session.phase {
            case .absent: true
            case .streaming where session.isDrained && !session.hasUnconfirmed: true
            default: MonotonicClock.now() >= until
            }
        }
    }

    private func perform(_ step: DeliveryStep) {
        switch step {
        case .connect: connect()
        case .sendMarkers(let datagram): sendMarkers(datagram)
        case .lookForMarkers(let until): lookForMarkers(until: until)
        case .scan: scan()
        case .deliver(let entries): deliver(entries)
        case .wait(let until, let forRoom): wait(until: waitLimit(until), forRoom: forRoom)
        }
    }

    /// Notes trouble that leaves it open what journald has stored.
    func fail(_ error: any Error) {
        lastError = "\(error)"
        session.failed(now: MonotonicClock.now())
    }

    private func publish() {
        var statistics = session.snapshot
        statistics.reconnects = connections > 0 ? connections - 1 : 0
        statistics.lastError = lastError
        if session.confirmed > announced {
            announced = session.confirmed
            onConfirmed(announced)
        }
        control.publish(statistics, checkpoint)
    }
}
