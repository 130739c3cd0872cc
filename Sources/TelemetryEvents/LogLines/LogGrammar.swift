// SPDX-License-Identifier: Apache-2.0

/// Finds the rule of a message by hashing its first eight bytes and comparing the rest, so that the cost does not
/// depend on the number of rules.
struct LogGrammar: Sendable {
    static let shared = LogGrammar(rules)
    static let ofRefresh = LogGrammar(refreshRules)

    private static let slotCount = 256

    let forms: [LogRule.Form]
    /// The case-folded openings, concatenated, and the start of each.
    private let openings: [UInt8]
    private let starts: [Int]
    /// The hash table: the first eight bytes of an opening, and the first rule that begins with them.
    private let words: [UInt64]
    private let firstRule: [UInt8]

    init(_ unordered: [LogRule]) {
        let rules = unordered.sorted { left, right in
            let first = left.folded
            let second = right.folded
            return first.prefix(8) == second.prefix(8)
                ? first.count > second.count : first.prefix(8).lexicographicallyPrecedes(second.prefix(8))
        }
        var openings: [UInt8] = []
        var starts = [0]
        var words = [UInt64](repeating: 0, count: Self.slotCount)
        var firstRule = [UInt8](repeating: 0, count: Self.slotCount)
        for (index, rule) in rules.enumerated() {
            openings += rule.folded
            let word = openings.span.word(at: starts[index])
            starts.append(openings.count)
            var slot = Self.firstSlot(of: word)
            while words[slot] != 0, words[slot] != word { slot = (slot + 1) % Self.slotCount }
            guard words[slot] == 0 else { continue }
            words[slot] = word
            firstRule[slot] = UInt8(index)
        }
        forms = rules.map(\.form)
        self.openings = openings
        self.starts = starts
        self.words = words
        self.firstRule = firstRule
    }

    /// Matches a message's opening; returns its form and the start of the rest, or nil if no rule matches. O(opening).
    func match(_ bytes: Span<UInt8>, _ text: Range<Int>) -> (form: LogRule.Form, rest: Int)? {
        guard text.count >= 8 else { return nil }
        let word = bytes.word(at: text.lowerBound) | UInt64.foldingBits
        var slot = Self.firstSlot(of: word)
        while words[slot] != word {
            guard words[slot] != 0 else { return nil }
            slot = (slot + 1) % Self.slotCount
        }
        var rule = Int(firstRule[slot])
        repeat {
            if let end = endOfOpening(rule, bytes, text) { return (forms[rule], end) }
            rule += 1
        } while rule < forms.count && openings.span.word(at: starts[rule]) == word
        return nil
    }

    private func endOfOpening(_ rule: Int, _ bytes: Span<UInt8>, _ text: Range<Int>) -> Int? {
        let start = starts[rule]
        let count = starts[rule + 1] - start
        guard text.count >= count else { return nil }
        let opening = openings.span
        var offset = 8
        while offset + 8 <= count {
            guard bytes.word(at: text.lowerBound + offset) | UInt64.foldingBits == opening.word(at: start + offset)
            else {
                return nil
            }
            offset += 8
        }
        guard
            offset == count
                || bytes.word(at: text.lowerBound + count - 8) | UInt64.foldingBits
                    == opening.word(at: start + count - 8)
        else { return nil }
        let end = text.lowerBound + count
        guard end == text.upperBound || !bytes[end].isLetterOrDigit || !opening[start + count - 1].isLetterOrDigit
        else {
            return nil
        }
        return end
    }

    private static func firstSlot(of word: UInt64) -> Int {
        Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 56)
    }
}

extension LogRule {
    fileprivate var folded: [UInt8] { opening.bytes.map(\.folded) }
}

extension UInt64 {
    /// The ASCII case bit of eight bytes.
    fileprivate static let foldingBits: UInt64 = 0x2020_2020_2020_2020
}

extension UInt8 {
    fileprivate var folded: UInt8 { self | 0x20 }
}
