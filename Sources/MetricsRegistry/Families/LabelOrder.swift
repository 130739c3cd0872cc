// SPDX-License-Identifier: Apache-2.0

/// How one registration's order of label names maps to the order in which the family was first registered.
struct LabelOrder: Sendable {
    /// For each label of the family its place in the caller's order; nil when the two are the same.
    private let places: [Int]?

    init(caller: [String], family: [String]) {
        places = caller == family ? nil : family.compactMap { caller.firstIndex(of: $0) }
    }

    @inline(__always) var isSame: Bool { places == nil }

    func arranged(_ values: [String]) -> [String] {
        guard let places, places.count == values.count else { return values }
        return places.map { values[$0] }
    }
}
