// SPDX-License-Identifier: Apache-2.0

/// Which names rotated generations of a file have: `device.log.1`, `device.log-20251115`, `device-2025-11-15T05.log`,
/// `device.log.old`. Anything else, such as `device-2.log`, may be the log of another device.
struct RotationName {
    private static let words = ["old", "bak", "prev", "copy", "save", "orig"]
    private static let signs = Set("0123456789.-_:+~TZ")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private static let compressions = [".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip", ".Z"]

    private let base: String
    private let stem: Substring
    private let ending: Substring

    init(of base: String) {
        self.base = base
        let dot = base.dropFirst().lastIndex(of: ".") ?? base.endIndex
        stem = base[..<dot]
        ending = base[dot...]
    }

    /// Whether a file of this name may be a generation of the base, not compressed and not the base itself.
    func isGeneration(_ name: String) -> Bool { middle(of: name) != nil }

    /// Whether of two generations, written at the same time, the first is the older one: higher numbers are older, later
    /// dates newer.
    func isOlder(_ first: String, _ second: String) -> Bool {
        let numbers = [first, second].map { name -> Int? in
            guard let middle = middle(of: name), middle.count <= 5 else { return nil }
            return Int(middle.drop { !$0.isNumber })
        }
        if let left = numbers[0], let right = numbers[1] { return left > right }
        return first < second
    }

    private func middle(of name: String) -> Substring? {
        guard name != base, !Self.compressions.contains(where: { name.hasSuffix($0) }) else { return nil }
        if name.hasPrefix(base) {
            let middle = name.dropFirst(base.count)
            if isDate(middle) || isNumberOrWord(middle) { return middle }
        }
        guard !ending.isEmpty, name.hasPrefix(stem), name.hasSuffix(ending), name.count > base.count else { return nil }
        let middle = name.dropFirst(stem.count).dropLast(ending.count)
        return isDate(middle) ? middle : nil
    }

    private func isNumberOrWord(_ middle: Substring) -> Bool {
        if middle == "~" { return true }
        guard middle.first == "." else { return false }
        let rest = middle.dropFirst()
        if Self.words.contains(where: { rest.lowercased() == $0 }) { return true }
        return 1...3 ~= rest.utf8.count && rest.utf8.allSatisfy { Self.digits.contains($0) }
    }

    /// Whether this is a date of at least eight digits behind a separator, and at most a time and a number behind it.
    private func isDate(_ middle: Substring) -> Bool {
        guard let first = middle.first, "-._".contains(first), middle.allSatisfy({ Self.signs.contains($0) }) else {
            return false
        }
        let date = middle.dropFirst()
        guard date.prefix(4).utf8.allSatisfy({ Self.digits.contains($0) }) else { return false }
        let digits = date.utf8.filter { Self.digits.contains($0) }.prefix(8).map { Int($0 - UInt8(ascii: "0")) }
        guard digits.count == 8 else { return false }
        let year = digits[..<4].reduce(0) { $0 * 10 + $1 }
        return 1970...2999 ~= year && 1...12 ~= digits[4] * 10 + digits[5] && 1...31 ~= digits[6] * 10 + digits[7]
    }
}
