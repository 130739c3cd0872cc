// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import LedgerState
import SystemPrimitives
import TelemetryEvents

@testable import Collector

/// The events of a few simulated devices, and the batches in which their clients post them.
struct SimulatedFleet {
    /// A batch as a client posts it, again and again until it knows that it was taken.
    struct Batch {
        let device: Int
        let lines: [[UInt8]]
        let key: String
        let decoded: DecodedEvents

        init(device: Int, _ lines: [[UInt8]], key: String, receivedAt: Int64) {
            self.device = device
            self.lines = lines
            self.key = key
            decoded = SimulatedFleet.decode(Array(lines.joined()), receivedAt: receivedAt)
        }

        func submission(withKey: Bool) -> IngestSubmission {
            guard withKey else { return .events(decoded, origin: EventOrigin(.http, .ndjson), batch: nil) }
            let (key, body) = (Array(self.key.utf8), Array(lines.joined()))
            let identity = BatchIdentity(
                key: SimulatedFleet.identityKey.batch(idempotencyKey: key.span),
                keyAndBody: SimulatedFleet.identityKey.batch(idempotencyKey: key.span, body: body.span)
            )
            return .events(decoded, origin: EventOrigin(.http, .ndjson), batch: identity)
        }
    }

    static let identityKey = IdentityKey(3, 4)

    let plan: FleetPlan
    private(set) var truth = FleetTruth()
    private(set) var batches: [Batch] = []
    /// The number of each event by its canonical form.
    private(set) var ordinals: [[UInt8]: Int] = [:]
    /// When the first of them is posted: by then all have happened.
    let start: Int64

    init(_ plan: FleetPlan, mostLines: Int, random: inout SplitMix64) {
        self.plan = plan
        start = plan.start.microseconds + Int64(plan.days) * 86_400_000_000 + 6 * 3_600_000_000
        for number in 0..<plan.devices {
            var device = SimulatedDevice(plan, number: number)
            var buffer = OutputBuffer()
            while device.tellDay(to: &buffer) {}
            truth += device.truth
            var lines = buffer.bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) + [UInt8(ascii: "\n")] }[...]
            while !lines.isEmpty {
                let count = min(lines.count, Int.random(in: 1...mostLines, using: &random))
                add(Array(lines.prefix(count)), of: number)
                lines = lines.dropFirst(count)
            }
        }
    }

    private mutating func add(_ lines: [[UInt8]], of device: Int) {
        let batch = Batch(device: device, lines, key: "batch-\(batches.count)", receivedAt: start)
        for event in Self.canonical(batch.decoded.events.bytes) where ordinals[event] == nil {
            ordinals[event] = ordinals.count
        }
        batches.append(batch)
    }

    /// Puts two batches, under keys of their own, in the place of one.
    mutating func split(_ index: Int, at place: Int) -> Int {
        let batch = batches[index]
        let rest = batches.count
        for (lines, part) in [(batch.lines[place...], rest), (batch.lines[..<place], index)] {
            let key = "\(batch.key)-\(rest)-\(part)"
            let new = Batch(device: batch.device, Array(lines), key: key, receivedAt: start)
            if part == rest { batches.append(new) } else { batches[index] = new }
        }
        return rest
    }

    /// The events of records in their canonical form.
    static func canonical(_ records: [UInt8]) -> [[UInt8]] {
        var events: [[UInt8]] = []
        var cursor = EventCursor()
        while let event = try? cursor.next(in: records.span) {
            var text: [UInt8] = []
            CanonicalJSON.append(event, in: records.span, to: &text)
            events.append(text)
        }
        return events
    }

    private static func decode(_ bytes: [UInt8], receivedAt: Int64) -> DecodedEvents {
        JSONEventDecoder.decode(
            bytes.span,
            framing: .lines,
            receivedAt: Timestamp(microseconds: receivedAt),
            pseudonyms: SeededPseudonyms(),
            identityKey: identityKey
        )
    }
}

/// Pseudonyms that are the same in each process.
private struct SeededPseudonyms: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        var low = TraceHash()
        for index in bytes.indices { low.mix(UInt64(bytes[index])) }
        var high = low
        high.mix(0x5EED)
        return Pseudonym(high: high.value, low: low.value)
    }
}

extension SimulatedFleet {
    /// The first series of a page that is not what the fleet's truth says; nil where none is.
    ///
    /// - Parameter twice: how many schedules may count twice.
    static func difference(_ page: String, _ truth: FleetTruth, twice: Int = 0) -> String? {
        var expected = Dictionary(uniqueKeysWithValues: truth.series.map { ($0.name, $0.value) })
        var first: String?
        for _ in 0...twice {
            let comparison = PageComparison(page, expected)
            if case .open(let cycles) = comparison.verdict { return "\(cycles) cycles are open" }
            guard let difference = comparison.difference else { return nil }
            first = first ?? difference
            expected["dnp_prefetch_scheduled_total", default: 0] += 1
        }
        return first
    }
}
