// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

/// Every row of SPEC 5.1, violated and just not.
@Suite("Violations")
struct ViolationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let kind: ViolationKind
        let name: String
        let broken: [Told]
        let kept: [Told]
        /// What the sentence says of it.
        let words: String

        init(_ kind: ViolationKind, _ name: String, _ words: String, broken: [Told], kept: [Told]) {
            self.kind = kind
            self.name = name
            self.words = words
            self.broken = broken
            self.kept = kept
        }

        var testDescription: String { "\(kind.name): \(name)" }
    }

    /// A cycle without a fault: scheduled, executed in its window, successful, used and delivered in time.
    static func cycle(
        scheduled: Double = 0,
        begins: Double = 300,
        executed: Double = 400,
        success: Double = 402,
        used: Double = 900,
        delivered: Double = 901,
        due: Double = 900
    ) -> [Told] {
        [
            Told(.prefetchScheduled, scheduled, due: due).begins(begins), Told(.prefetchExecuted, executed),
            Told(.prefetchSuccess, success), Told(.prefetchCompleted, success),
            Told(.prefetchUsedForNotification, used), Told(.notificationDelivered, delivered),
        ]
    }

    static func without(_ kinds: EventKind...) -> [Told] { cycle().filter { !kinds.contains($0.event.kind) } }

    @Test("are found and named", arguments: order + integrity + timing + AcrossCycles.rows)
    func broken(row: Row) throws {
        let cycles = try LifecycleFold.judged(row.broken)
        let violations = cycles.flatMap(\.violations).filter { $0.kind == row.kind }
        #expect(violations.count == 1)
        #expect(violations.first?.detail.contains(row.words) ?? false, "\(violations)")
    }

    @Test("are not found where they just are none", arguments: order + integrity + timing + AcrossCycles.rows)
    func kept(row: Row) throws {
        let cycles = try LifecycleFold.judged(row.kept)
        #expect(!cycles.isEmpty)
        #expect(!cycles.flatMap(\.broken).contains(row.kind))
    }

    @Test("are the same in every order of arrival", arguments: order + integrity + timing + AcrossCycles.rows)
    func anyOrder(row: Row) throws {
        var random = SplitMix64(state: 5)
        for events in [row.broken, row.kept] {
            let expected = try LifecycleFold.judged(events).flatMap(\.broken).map(\.rawValue).sorted()
            for _ in 0..<30 {
                let judged = try LifecycleFold.judged(events.shuffled(using: &random))
                #expect(judged.flatMap(\.broken).map(\.rawValue).sorted() == expected)
            }
        }
    }

    @Test("have each a name, a row and a bucket")
    func vocabulary() {
        let names = ViolationKind.allCases.map { "\($0.name)" }
        #expect(Set(names).count == 17)
        let rows = Self.order + Self.integrity + Self.timing + AcrossCycles.rows
        #expect(Set(rows.map(\.kind)) == Set(ViolationKind.allCases))
        #expect(ViolationKind.allCases.filter { $0.bucket == .b } == [.leadBelowMinimum, .nextNotScheduled])
        #expect(
            ViolationKind.allCases.filter { $0.bucket == .c }
                == [.missedWindow, .executedAfterNotification, .driftExceeded, .expired]
        )
    }

    @Test("none in a cycle without a fault")
    func faultless() throws {
        let cycles = try LifecycleFold.judged(Self.cycle())
        #expect(cycles.map(\.outcome) == [.used])
        #expect(cycles.flatMap(\.violations) == [])
    }
}
