// SPDX-License-Identifier: Apache-2.0

import EventLedger
import LedgerState
import Logging
import SystemPrimitives
import TelemetryEvents

@testable import Collector
@testable import Journald

/// Carries out the steps of a ``DeliverySession`` against a ``SimulatedJournald``, as ``DeliveryDriver`` does against the
/// real one: the session, the markers, the sorter of streams, the source and the witness are the product's own.
struct SimulatedDelivery {
    private let configuration: JournalDeliveryConfiguration
    private let witness: JournalWitness
    private let progress: DeliveryProgress
    private let plant: PlantedFault?
    private let markers: DeliveryMarkers
    private(set) var session: DeliverySession
    private var streams: StreamNames
    private var outgoing: OutgoingEntries
    private var connection = -1
    /// The place in the journal behind what was read, and that of the entry which every unconfirmed one follows.
    private var place = 0
    private(set) var cursor: String?
    private var checkpoint: UInt64

    init(
        _ ledger: EventLedger,
        _ reader: LedgerReader,
        _ progress: DeliveryProgress,
        key: IdentityKey,
        clock: LedgerClock,
        log: Logger,
        plant: PlantedFault?,
        random: inout SplitMix64
    ) {
        let start = progress.saved
        witness = JournalWitness(ledger, confirmed: start.position.sequence, now: clock.now, log: log)
        var configuration = JournalDeliveryConfiguration(
            identifier: EventJournalEntry.identifier,
            streamField: JournalEntryNames.ledgerField,
            stream: ledger.id,
            sequenceField: JournalEntryNames.sequenceField
        )
        configuration.streams = witness.streams
        configuration.given = ledger.comparable
        configuration.windowEntries = Int.random(in: 8...64, using: &random)
        configuration.entriesPerDatagram = Int.random(in: 1...8, using: &random)
        self.configuration = configuration
        self.progress = progress
        self.plant = plant
        markers = DeliveryMarkers(identifier: configuration.identifier, random: &random)
        streams = configuration.streams
        cursor = start.cursor
        checkpoint = start.position.sequence
        session = DeliverySession(
            limits: DeliveryLimits(configuration),
            confirmed: start.position.sequence,
            given: configuration.given,
            seed: random.next()
        )
        outgoing = OutgoingEntries(
            EventJournalSource(reader, progress: progress, key: key, log: log),
            JournalEntryBuffer(configuration, configuration.streams)
        )
    }

    /// The source may have more.
    mutating func wake() { session.sourceHasMore() }

    /// Takes one step; returns for how many nanoseconds it would wait.
    mutating func turn(_ journald: inout SimulatedJournald, _ disk: SimulatedDisk, now: UInt64) -> UInt64 {
        guard !disk.isDown else { return 0 }
        readBack(journald, now: now)
        let wait = perform(&journald, disk, now: now)
        // What a writer does when its process is gone, no one sees.
        guard !disk.isDown else { return 0 }
        if plant == .confirmedWhenSent { progress.confirmed(session.handled) }
        progress.confirmed(session.confirmed)
        return wait
    }

    private mutating func perform(
        _ journald: inout SimulatedJournald,
        _ disk: SimulatedDisk,
        now: UInt64
    ) -> UInt64 {
        switch session.step(now: now) {
        case .connect:
            outgoing.removeAll()
            guard journald.isListening else {
                session.connectionFailed(now: now)
                return 0
            }
            connection = journald.socket
            session.connected(now: now)
        case .sendMarkers(let datagram):
            guard let bytes = try? markers.datagram(datagram, attempt: session.attempt) else { return 0 }
            switch journald.send(bytes, over: connection) {
            case true?: session.markersSent(now: now)
            case false?: session.markersBlocked()
            case nil: session.failed(now: now)
            }
        case .pollForMarkers(let until):
            let places = journald.journal.filter { $0.markerID == markerID }.map(\.markerPlace)
            guard places.contains(DeliveryMarkers.lastPlace) else { return until - now }
            session.markersFound(provesBatching: places.contains(2))
        case .scan: scan(journald, now: now)
        case .deliver(let entries): deliver(entries, &journald, disk, now: now)
        case .wait(let until, let forWritable):
            if forWritable, journald.hasRoom { session.socketWritable() }
            return (until ?? now + 1_000_000_000) - now
        }
        return 0
    }

    private var markerID: String { String(decoding: markers.id(attempt: session.attempt), as: UTF8.self) }

    /// The entries of the stream's names from a place on, with the part that each name stands for.
    private func own(_ journald: SimulatedJournald, from start: Int) -> [(part: Int, number: UInt64)] {
        journald.journal[min(start, journald.journal.count)...].compactMap { entry in
            guard entry.identifier == configuration.identifier, let number = entry.number,
                let part = streams.parts.lastIndex(where: { $0.name == entry.stream })
            else { return nil }
            return (part, number)
        }
    }

    private mutating func readBack(_ journald: SimulatedJournald, now: UInt64) {
        guard session.phase == .streaming, place < journald.journal.count else { return }
        for (part, number) in own(journald, from: place) where streams.index(of: number) == part {
            session.readBack(number, now: now)
        }
        place = journald.journal.count
        guard session.phase == .streaming, session.isContiguous, session.confirmed > checkpoint else { return }
        checkpoint = session.confirmed
        cursor = "\(place - 1)"
    }

    private mutating func scan(_ journald: SimulatedJournald, now: UInt64) {
        guard
            let marker = journald.journal.lastIndex(where: {
                $0.markerID == markerID && $0.markerPlace == DeliveryMarkers.lastPlace
            })
        else { return session.failed(now: now) }
        var sorter = StreamSorter(streams, given: session.given)
        for (part, number) in own(journald, from: cursor.flatMap { Int($0) } ?? 0)
        where sorter.admits(number, of: part) {
            session.found(number)
        }
        do {
            let names = try witness.compare(sorter.comparison)
            if names != streams {
                streams = names
                outgoing.encode(with: JournalEntryBuffer(configuration, names))
            }
        } catch {
            return session.failed(now: now)
        }
        place = marker + 1
        session.scanned(now: now)
        guard session.isContiguous else { return }
        checkpoint = session.confirmed
        cursor = "\(marker)"
    }

    private mutating func deliver(
        _ entries: Int,
        _ journald: inout SimulatedJournald,
        _ disk: SimulatedDisk,
        now: UInt64
    ) {
        if outgoing.isSent {
            do {
                guard try outgoing.fill(after: session.handled, limit: entries) else { return session.sourceDrained() }
            } catch {
                return session.sourceFailed(now: now)
            }
        }
        guard !disk.isDown else { return }
        while let range = outgoing.nextDatagram(of: &session) {
            let bytes = outgoing.buffer.byteRange(of: range)
            switch journald.send(Array(outgoing.buffer.bytes[bytes]), over: connection) {
            case true?:
                session.sent(outgoing.sequences(of: range), bytes: bytes.count, now: now)
                if plant == .sentIsReadBack {
                    for number in outgoing.sequences(of: range) { session.readBack(number, now: now) }
                }
            case false?: return session.blocked()
            case nil: return session.failed(now: now)
            }
            outgoing.sent(range)
        }
    }
}
