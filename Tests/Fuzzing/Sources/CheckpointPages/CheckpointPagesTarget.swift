// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents

/// Saves and restores what the service keeps: the folds as they are, the folds from damaged pages, and the smaller pages and
/// rows as the input has them.
///
/// The first byte says which; `s` and `d` are followed by instructions and the events of a history, one a line.
enum CheckpointPagesTarget: FuzzTarget {
    static func check(_ input: [UInt8]) {
        var instructions = Instructions(input)
        switch instructions.byte() {
        case UInt8(ascii: "s"): History(&instructions).checkSaved()
        case UInt8(ascii: "d"): checkDamaged(&instructions)
        case UInt8(ascii: "r"): LedgerRows.check(&instructions)
        default: SmallPages.check(instructions.remaining)
        }
    }

    /// Restores pages of which some bytes are others: with an error that says so, or to a state that can be used and saved.
    private static func checkDamaged(_ instructions: inout Instructions) {
        let damage = (0...instructions.byte() % 4).map { _ in PageDamage(&instructions) }
        let history = History(&instructions)
        var live = SavedFolds(limits: history.limits)
        live.begin(history)
        var pages = live.pages
        let keys = pages.keys.sorted()
        for damage in damage { damage.apply(to: &pages, of: keys) }
        do throws(StateError) {
            var restored = try SavedFolds(restoring: pages, limits: history.limits)
            restored.end(history)
            let again = try SavedFolds(restoring: restored.pages, limits: history.limits)
            guard again.prefetch.totals == restored.prefetch.totals, again.refresh.totals == restored.refresh.totals
            else {
                finding("totals that are others once they are saved and restored")
            }
        } catch {
            guard !error.description.isEmpty else { finding("an error without words") }
        }
    }
}

/// A change of a page.
private struct PageDamage {
    private let page: Int
    private let kind: UInt8
    private let offset: Int
    private let bytes: [UInt8]

    init(_ instructions: inout Instructions) {
        page = instructions.number(bytes: 1)
        kind = instructions.byte()
        offset = instructions.number(bytes: 2)
        bytes = instructions.bytes(Int(kind >> 4) + 1)
    }

    func apply(to pages: inout [String: [UInt8]], of keys: [String]) {
        guard !keys.isEmpty, var value = pages[keys[page % keys.count]] else { return }
        let start = offset % (value.count + 1)
        let end = min(start + bytes.count, value.count)
        switch kind % 4 {
        case 0, 1: value.replaceSubrange(start..<end, with: bytes)
        case 2: value.removeSubrange(start...)
        default: value.insert(contentsOf: bytes, at: start)
        }
        pages[keys[page % keys.count]] = value
    }
}

/// Events, one a line, that are folded before and after a checkpoint.
struct History {
    let limits: LifecycleLimits
    let before: [UInt8]
    let after: [UInt8]

    init(_ instructions: inout Instructions) {
        let choice = instructions.byte()
        let lines = instructions.remaining.split(separator: UInt8(ascii: "\n"))
        let cut = Int(choice >> 1) % (lines.count + 1)
        limits = choice & 1 == 0 ? LifecycleLimits() : Self.small
        before = Self.records(lines[..<cut])
        after = Self.records(lines[cut...])
    }

    /// Limits that a few events reach.
    private static var small: LifecycleLimits {
        var limits = LifecycleLimits()
        limits.openCycles = 3
        limits.factsPerCycle = 8
        limits.installations = 2
        limits.identities = 64
        limits.cyclesPerSchedule = 2
        return limits
    }

    private static func records(_ lines: ArraySlice<ArraySlice<UInt8>>) -> [UInt8] {
        decode(Array(lines.joined(separator: [UInt8(ascii: "\n")])), .lines).events.bytes
    }

    /// A restored state equals the one that was saved, continues like it, and is saved as it.
    func checkSaved() {
        var live = SavedFolds(limits: limits)
        live.begin(self)
        var restored: SavedFolds
        do throws(StateError) {
            restored = try SavedFolds(restoring: live.pages, limits: limits)
        } catch {
            finding("a saved state that cannot be restored: \(error)")
        }
        compare(live, restored, "restored")
        live.end(self)
        restored.end(self)
        compare(live, restored, "continued")
        for key in Set(live.pages.keys).union(restored.pages.keys) where live.pages[key] != restored.pages[key] {
            finding("page \(key) is another one after a restart", live.pages[key] ?? [], restored.pages[key] ?? [])
        }
    }

    private func compare(_ live: SavedFolds, _ other: SavedFolds, _ how: String) {
        guard live.prefetch.totals == other.prefetch.totals else { finding("\(how): other totals of the prefetch") }
        guard live.prefetch.openCycles == other.prefetch.openCycles else { finding("\(how): other open cycles") }
        guard live.refresh.totals == other.refresh.totals else { finding("\(how): other totals of the refresh") }
        guard live.refresh.openRuns == other.refresh.openRuns else { finding("\(how): other open runs") }
    }
}
