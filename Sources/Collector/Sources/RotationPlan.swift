// SPDX-License-Identifier: Apache-2.0

/// Finds the files to read after a rotation, from a listing of the directory.
struct RotationPlan {
    /// From this length on, content alone identifies a file of any name; shorter beginnings are alike in many logs.
    private static let certainBytes: UInt64 = 256

    private let name: RotationName
    private let siblings: [Sibling]
    private let neighbours: Neighbours

    /// - Parameter neighbours: The files that were there before the rotation.
    init(base: String, siblings: [Sibling], neighbours: Neighbours) {
        name = RotationName(of: base)
        self.siblings = siblings
        self.neighbours = neighbours
    }

    /// The file of a position, under its present name.
    func original(of position: FilePosition) -> Sibling? {
        siblings.first { $0.status.identity == position.identity && holds($0, position) }
    }

    /// The longest copy of what was read up to a position, in another file.
    func copy(of position: FilePosition) -> Sibling? {
        guard position.offset > 0 else { return nil }
        return siblings.filter { sibling in
            sibling.status.identity != position.identity && holds(sibling, position)
                && (position.offset >= Self.certainBytes || name.isGeneration(sibling.name))
        }.max { ($0.status.size, $0.status.modified) < ($1.status.size, $1.status.modified) }
    }

    /// Whether a file surely is a copy of what was read up to a position.
    func isCopy(_ identity: FileIdentity, of position: FilePosition) -> Bool {
        position.offset >= Self.certainBytes
            && siblings.contains { $0.status.identity == identity && holds($0, position) }
    }

    private func holds(_ sibling: Sibling, _ position: FilePosition) -> Bool {
        sibling.status.size >= position.offset && sibling.fingerprint == position.fingerprint
    }

    /// The generations that were written since a time, oldest first, without known ones and copies of what was read.
    ///
    /// A file that has a name like the one that the rotation gave to what was read is a generation, too.
    func generations(
        writtenSince time: Int64,
        besides known: Set<FileIdentity>,
        after position: FilePosition
    ) -> [Sibling] {
        let given = original(of: position).flatMap { name.shape($0.name) }
        return siblings.filter { sibling in
            sibling.status.modified >= time && sibling.status.size > 0
                && (name.isGeneration(sibling.name) || given != nil && name.shape(sibling.name) == given)
                && !neighbours.contains(sibling)
                && !known.contains(sibling.status.identity)
                && !isCopy(sibling.status.identity, of: position)
                && !position.finished.contains(
                    FilePosition.Finished(identity: sibling.status.identity, end: sibling.status.size)
                )
        }.sorted { left, right in
            left.status.modified == right.status.modified
                ? name.isOlder(left.name, right.name) : left.status.modified < right.status.modified
        }
    }
}

/// Recognises the names of a file's rotated generations: `device.log.1`, `device.log-20251115`, `device-2025-11-15T05.log`,
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

    /// What follows the stem of the base in a name, with a 0 for each number, which generations have in common: `.0.log` of
    /// `device.17.log`; nil for the base and for names that do not begin like it.
    func shape(_ name: String) -> String? {
        guard name != base, name.hasPrefix(stem) else { return nil }
        var shape = ""
        for character in name.dropFirst(stem.count) {
            if !("0"..."9" ~= character) { shape.append(character) } else if shape.last != "0" { shape.append("0") }
        }
        return shape
    }

    /// Whether the first of two generations with the same time is older: higher numbers are older, later dates newer.
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

    /// Whether this is a separator and a date of at least eight digits, optionally with a time and a number.
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

/// The siblings with names of generations that were there before a rotation, which are no generations of it.
///
/// A listing becomes valid at the first later look that finds no rotation.
struct Neighbours: Sendable {
    /// How long a listing is used before the directory is listed again.
    private static let validityMicroseconds: Int64 = 60_000_000

    private var files: [String: FileStatus] = [:]
    private var listing: (time: Int64, files: [String: FileStatus])?
    private var dueAt = Int64.min

    /// Whether a file had its name before. A smaller file is another one that was given the same number.
    func contains(_ sibling: Sibling) -> Bool {
        guard let before = files[sibling.path] else { return false }
        return before.identity == sibling.status.identity && before.size <= sibling.status.size
    }

    /// Adopts the listing of an earlier look; true when the directory is to be listed again.
    mutating func beginListing(now: Int64) -> Bool {
        if let listing, listing.time < now {
            files = listing.files
            self.listing = nil
        }
        guard now >= dueAt else { return false }
        dueAt = now + Self.validityMicroseconds
        return true
    }

    mutating func listed(_ siblings: [Sibling], now: Int64) {
        listing = (now, Dictionary(siblings.map { ($0.path, $0.status) }) { _, last in last })
    }

    /// Drops a listing that a rotation has overtaken.
    mutating func discardListing() {
        listing = nil
        dueAt = .min
    }
}
