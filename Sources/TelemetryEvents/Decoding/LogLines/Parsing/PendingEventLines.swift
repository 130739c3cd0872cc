// SPDX-License-Identifier: Apache-2.0

/// Lines after one another that are JSON events; they are decoded together.
struct PendingEventLines: Sendable {
    private(set) var range: Range<Int>?
    private(set) var lines = 0
    private(set) var first = 0

    var isEmpty: Bool { lines == 0 }

    /// Whether nothing but the end of a line stands between these lines and a place.
    func mayContinue(at place: Int, _ bytes: Span<UInt8>) -> Bool {
        guard let range else { return true }
        return (range.upperBound..<place).allSatisfy { bytes[$0] == 0x0A || bytes[$0] == 0x0D }
    }

    mutating func add(_ text: Range<Int>, line: Int) {
        if range == nil { first = line }
        range = (range?.lowerBound ?? text.lowerBound)..<text.upperBound
        lines += 1
    }
}
