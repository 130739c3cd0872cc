// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("Saved states of log decoders of earlier versions")
struct LogStateUpgradeTests {
    private static let key = IdentityKey(1, 2)
    private static let source = Pseudonym(high: 0, low: 9)
    private static let due = Timestamp(seconds: 1_763_208_000)

    private static var options: LogDecoderOptions {
        var options = LogDecoderOptions(isLive: true)
        options.source = source
        return options
    }

    /// The state of the second version, of a source without log lines.
    private static func secondState() -> [UInt8] {
        var state: [UInt8] = [2]
        state.appendVarint(zigzag: 0)
        state.append(0)
        state.appendVarint(3)
        state.append(0)
        state.appendVarint(zigzag: Int64.min)
        state.appendLittleEndian(0)
        state.appendVarint(0)
        state.append(0)
        state.appendLittleEndian(key.text(state.span, 0..<state.count))
        return state
    }

    private static func restored(_ state: [UInt8]) throws -> LogDecoder {
        try LogDecoder(restoring: state, options, pseudonyms: PlainPseudonyms(), identityKey: key)
    }

    private static func event(_ kind: String, _ time: String, id: String? = "daily", _ members: String = "") -> String {
        let schedule = id.map { #","scheduleId":"\#($0)""# } ?? ""
        return #"{"event":"\#(kind)","timestamp":"2025-11-\#(time)Z"\#(schedule)\#(members)}"# + "\n"
    }

    private static func due(_ time: String) -> String { #","scheduledFor":"2025-11-\#(time)Z""# }

    /// The installation of each event.
    private func installations(_ lines: String, _ decoder: inout LogDecoder) throws -> [Pseudonym?] {
        let decoded = decoder.decode(Array(lines.utf8).span, readAt: readingTime)
        var cursor = EventCursor()
        var found: [Pseudonym?] = []
        while let event = try cursor.next(in: decoded.events.bytes.span) { found.append(event.installation) }
        return found
    }

    private static func carried(_ schedule: String?, due: Timestamp?) throws -> CarriedCycles {
        let body = event("prefetch_scheduled", "15T11:40:00", id: schedule, Self.due("15T12:00:00"))
        let decoded = JSONEventDecoder.decode(
            Array(body.utf8).span,
            framing: .document,
            receivedAt: readingTime,
            pseudonyms: PlainPseudonyms(),
            identityKey: key
        )
        var cursor = EventCursor()
        let event = try #require(try cursor.next(in: decoded.events.bytes.span))
        let hash = key.schedule(of: event, in: decoded.events.bytes.span) ?? 0
        return CarriedCycles(
            [CarriedCycles.Cycle(schedule: hash, due: due, base: event.timestamp)],
            now: readingTime
        )
    }

    private static let ofCycle = [
        event("prefetch_executed", "15T11:55:00"), event("prefetch_success", "15T11:55:03"),
        event("prefetch_used_for_notification", "15T12:00:00", due("15T12:00:00")),
        event("prefetch_scheduled", "15T12:09:00", #","earliestBeginDate":"2025-11-15T12:12:00Z""#),
    ]
    private static let ofNext = [
        event("prefetch_scheduled", "15T12:01:00", due("16T12:00:00")),
        event("prefetch_scheduled", "15T12:01:00", #","earliestBeginDate":"2025-11-16T11:55:00Z""#),
        event("prefetch_executed", "16T11:55:00"), event("prefetch_executed", "15T11:55:00", id: "other"),
        event("plugin_started", "15T11:55:00", id: nil),
    ]

    @Test("JSON events of a cycle that was open at the upgrade stay without an installation, others do not")
    func eventsOfOpenCycles() throws {
        for due in [Self.due, nil] {
            var decoder = try Self.restored(Self.secondState())
            #expect(decoder.isOfAnonymousSource)
            decoder.carry(try Self.carried("daily", due: due))
            #expect(!decoder.isOfAnonymousSource)
            #expect(try installations(Self.ofCycle.joined(), &decoder) == [nil, nil, nil, nil])
            guard due != nil else { continue }
            let next = try installations(Self.ofNext.joined(), &decoder)
            #expect(next == Array(repeating: Self.source, count: Self.ofNext.count))
            let own = Self.event("prefetch_executed", "15T11:55:00", #","installationId":"phone""#)
            #expect(
                try installations(own, &decoder).first.flatMap { $0 }
                    == PlainPseudonyms().pseudonym(of: Array("phone".utf8).span)
            )
        }
    }

    @Test("a cycle that only its notification time names goes on by that")
    func eventsWithoutSchedule() throws {
        var decoder = try Self.restored(Self.secondState())
        decoder.carry(try Self.carried(nil, due: Self.due))
        let events = [
            Self.event("prefetch_executed", "15T11:55:00", id: nil, Self.due("15T12:00:00")),
            Self.event("prefetch_executed", "15T11:55:00", id: "later", Self.due("15T12:00:00")),
            Self.event("prefetch_executed", "15T11:55:00", id: nil, Self.due("15T12:30:00")),
        ]
        #expect(try installations(events.joined(), &decoder) == [nil, nil, Self.source])
        var named = try Self.restored(Self.secondState())
        named.carry(try Self.carried("daily", due: Self.due))
        #expect(try installations(events.joined(), &named) == [nil, Self.source, Self.source])
    }

    @Test("an event with an id that is personal keeps the identity that it had before the upgrade")
    func personalIdentifiers() throws {
        let id = "jane.doe@example.test"
        var decoder = try Self.restored(Self.secondState())
        decoder.carry(try Self.carried(id, due: Self.due))
        let line = Self.event("prefetch_executed", "15T11:55:00", id: id)
        let after = decoder.decode(Array(line.utf8).span, readAt: readingTime)
        let before = JSONEventDecoder.decode(
            Array(line.utf8).span,
            framing: .logLines,
            receivedAt: readingTime,
            pseudonyms: PlainPseudonyms(),
            identityKey: Self.key
        )
        #expect(after.identities == before.identities && after.identities.count == 1)
    }

    @Test("carried cycles survive restarts, and are dropped when they are over")
    func carriedCyclesAreSaved() throws {
        var decoder = try Self.restored(Self.secondState())
        decoder.carry(try Self.carried("daily", due: Self.due))
        var second = try Self.restored(decoder.state)
        #expect(second.state == decoder.state && !second.isOfAnonymousSource)
        #expect(try installations(Self.ofCycle.joined(), &second) == [nil, nil, nil, nil])
        let late = Timestamp(seconds: readingTime.microseconds / 1_000_000 + 10 * 86_400)
        _ = second.decode([UInt8]().span, readAt: late)
        let line = Self.ofCycle[0]
        let decoded = second.decode(Array(line.utf8).span, readAt: late)
        var cursor = EventCursor()
        #expect(try cursor.next(in: decoded.events.bytes.span)?.installation == Self.source)
    }

    @Test("at most 512 cycles are carried, those that end last, within the limit of a state")
    func carriedCyclesAreBounded() throws {
        let cycles = (1...3_000).map {
            CarriedCycles.Cycle(
                schedule: UInt64($0),
                due: Timestamp(seconds: 1_763_208_000 + Int64($0)),
                base: Self.due
            )
        }
        let carried = CarriedCycles(cycles, now: Self.due)
        #expect(carried.cycles.count == CarriedCycles.maximum && carried.cycles.first?.schedule == 3_000)
        var decoder = try Self.restored(Self.secondState())
        decoder.carry(carried)
        #expect(decoder.state.count <= 64 << 10)
        #expect(try Self.restored(decoder.state).state == decoder.state)
    }

    @Test("a decoder of this version carries nothing over")
    func currentState() throws {
        #expect(try !Self.restored(logDecoder(Self.options).state).isOfAnonymousSource)
    }
}
