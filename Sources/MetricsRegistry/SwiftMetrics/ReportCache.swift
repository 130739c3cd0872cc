// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Finds handlers by label and dimensions as a library gives them, neither made legal nor sorted.
///
/// The same series may be found by several orders of its dimensions. Full parts are emptied: what is still in use comes
/// back by itself.
final class ReportCache<Handler: Report>: Sendable {
    private static var parts: Int { 16 }
    private static var entriesPerPart: Int { 1_024 }

    private final class Entry: Sendable {
        let label: String
        let dimensions: [(String, String)]
        let handler: Handler
        let generation: Int

        init(_ handler: Handler, generation: Int, label: String, dimensions: [(String, String)]) {
            self.handler = handler
            self.generation = generation
            self.label = label
            self.dimensions = dimensions
        }

        func matches(_ label: String, _ dimensions: [(String, String)]) -> Bool {
            guard label == self.label, dimensions.count == self.dimensions.count else { return false }
            for index in dimensions.indices where dimensions[index] != self.dimensions[index] { return false }
            return generation == handler.family.generation
        }
    }

    private final class Part: Sendable {
        let entries = Mutex<[UInt64: Entry]>([:])
    }

    private let seed = UInt64.random(in: 0...UInt64.max)
    private let all: [Part]

    init() {
        all = (0..<Self.parts).map { _ in Part() }
    }

    func hash(_ label: String, _ dimensions: [(String, String)]) -> UInt64 {
        var hash = LabelHash(seed: seed)
        hash.combine(label)
        for (name, value) in dimensions {
            hash.combine(name)
            hash.combine(value)
        }
        return hash.value
    }

    func handler(_ hash: UInt64, _ label: String, _ dimensions: [(String, String)]) -> Handler? {
        guard let entry = part(hash).entries.withLock({ $0[hash] }), entry.matches(label, dimensions) else {
            return nil
        }
        return entry.handler
    }

    func keep(_ handler: Handler, generation: Int, _ hash: UInt64, _ label: String, _ dimensions: [(String, String)]) {
        let entry = Entry(handler, generation: generation, label: label, dimensions: dimensions)
        part(hash).entries.withLock { entries in
            if entries.count >= Self.entriesPerPart { entries.removeAll(keepingCapacity: true) }
            entries[hash] = entry
        }
    }

    private func part(_ hash: UInt64) -> Part {
        all[Int(truncatingIfNeeded: hash >> 60) & (Self.parts - 1)]
    }
}
