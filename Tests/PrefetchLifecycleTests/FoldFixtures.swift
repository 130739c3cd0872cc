// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

@testable import PrefetchLifecycle

struct OnePseudonym: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym { Pseudonym(high: 1, low: 2) }
}

let start = Timestamp(seconds: 1_763_185_000)

/// An event of cycle `a`, some seconds after `start`, with more members when given.
func event(_ kind: String, _ seconds: Int64, _ members: String = "", id: String = "a") -> String {
    let time = Timestamp(microseconds: start.microseconds + seconds * 1_000_000)
    return #"{"event":"\#(kind)","scheduleId":"\#(id)","timestamp":"\#(time)"\#(members.isEmpty ? "" : "," + members)}"#
}

func records(_ events: [String]) -> [UInt8] {
    let text = Array(events.joined(separator: "\n").utf8)
    return JSONEventDecoder.decode(
        text.span,
        framing: .lines,
        receivedAt: start,
        pseudonyms: OnePseudonym(),
        identityKey: IdentityKey(3, 4)
    ).events.bytes
}

extension LifecycleFold {
    init(limits: LifecycleLimits = LifecycleLimits()) {
        self.init(key: IdentityKey(3, 4), limits: limits)
    }

    mutating func apply(_ events: [String], at seconds: Int64 = 0) throws {
        let bytes = records(events)
        try apply(bytes.span, receivedAt: Timestamp(microseconds: start.microseconds + seconds * 1_000_000))
    }

    /// Ticks far enough for every cycle to close.
    mutating func closeAll() {
        tick(to: Timestamp(microseconds: start.microseconds + 3 * 86_400 * 1_000_000))
    }
}

extension LifecycleTotals {
    /// The stage counters, for comparing: scheduled, executed, success, failures by reason, used.
    var stages: [UInt64] {
        [scheduled, executed, success, failureNetwork, failureAuth, failureSystem, failureOther, used]
    }
}

extension StateDelta {
    /// All names whose pages are deleted.
    var deletedPrefixes: [String] {
        var delta = self
        return delta.takeDeletedPrefixes(.max)
    }

    /// All pages that are written.
    var upserts: [StatePage] {
        var delta = self
        var pages: [StatePage] = []
        while let page = delta.takePage() { pages.append(page) }
        return pages
    }
}

extension LifecycleTotals {
    /// Every number of the totals, including buckets, sums and latest times, none of which may decrease.
    var words: [UInt64] {
        var writer = StateWriter()
        append(to: &writer)
        let bytes = writer.bytes
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            var word: UInt64 = 0
            for place in 0..<8 { word |= UInt64(bytes[start + place]) << (8 * UInt64(place)) }
            return word
        }
    }

    /// The totals without what counts only where a summary came before the events that it sums up.
    var withoutImplied: LifecycleTotals {
        var totals = self
        totals.impliedSuccess = 0
        totals.impliedUsed = 0
        return totals
    }
}

extension LifecycleFold {
    /// The totals of each group by its names, since the order of the groups is that of their arrival.
    var namedTotals: [String: LifecycleTotals] {
        Dictionary(
            uniqueKeysWithValues: totalsByGroup.map {
                ("\($0.name.platform) \($0.name.appVersion)", $0.totals.withoutImplied)
            }
        )
    }
}

/// The checkpoint pages that a ledger keeps.
struct CheckpointStore {
    var pages: [String: [UInt8]] = [:]

    mutating func save(_ delta: StateDelta) {
        for prefix in delta.deletedPrefixes { pages = pages.filter { !$0.key.hasPrefix(prefix) } }
        for page in delta.upserts { pages[page.key] = page.value }
    }

    func restore(limits: LifecycleLimits = LifecycleLimits()) throws -> LifecycleFold {
        var fold = LifecycleFold(limits: limits)
        for (key, value) in pages.sorted(by: { $0.key < $1.key }) {
            try fold.restore(StatePage(key: key, value: value))
        }
        return fold
    }
}
