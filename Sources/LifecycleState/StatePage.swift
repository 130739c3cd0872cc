// SPDX-License-Identifier: Apache-2.0

/// One page of the checkpointed state of a fold.
public struct StatePage: Hashable, Sendable {
    /// The name of the page; pages are restored in the order of their keys.
    public var key: String
    /// The encoded content.
    public var value: [UInt8]

    /// Creates a page.
    public init(key: String, value: [UInt8]) {
        self.key = key
        self.value = value
    }

    /// Eight hexadecimal digits, whose text order is the order of the numbers.
    public static func sortable(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// A checkpoint page that cannot be read.
public struct StateError: Error, Sendable, CustomStringConvertible {
    /// The key of the page.
    public let key: String
    /// What is wrong with it.
    public let problem: StaticString

    /// Creates an error.
    public init(key: String, problem: StaticString) {
        self.key = key
        self.problem = problem
    }

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected a readable page of state under \"\(key)\", found \(problem); "
            + "the ledger is damaged or was written by another version"
    }
}

/// Writes the integers of a page, little-endian.
public struct StateWriter {
    @usableFromInline var written: [UInt8] = []

    /// Creates an empty page.
    public init() {}

    /// What was written.
    public var bytes: [UInt8] { written }

    /// Reserves space for a number of bytes.
    public mutating func reserveCapacity(_ count: Int) { written.reserveCapacity(count) }

    /// Appends an integer.
    @inlinable
    public mutating func append<Word: FixedWidthInteger>(_ word: Word) {
        unsafe withUnsafeBytes(of: word.littleEndian) { unsafe written.append(contentsOf: $0) }
    }

    /// Appends many words of 64 bits.
    public mutating func append(words: [UInt64]) {
        let start = written.count
        written.append(contentsOf: repeatElement(0, count: words.count * 8))
        var span = written.mutableSpan
        // Every bit pattern is a valid byte, so raw stores cannot break the array.
        var bytes = unsafe span.mutableBytes
        for place in words.indices {
            bytes.storeBytes(of: words[place].littleEndian, toByteOffset: start + place * 8, as: UInt64.self)
        }
    }
}

/// Reads the integers of a page; every read is checked against its end.
public struct StateReader {
    @usableFromInline let page: StatePage
    @usableFromInline var position = 0

    /// Creates a reader at the beginning of a page.
    public init(_ page: StatePage) {
        self.page = page
    }

    /// The bytes that are not read yet.
    @inlinable public var remaining: Int { page.value.count - position }

    /// An error about the page that is read.
    public func error(_ problem: StaticString) -> StateError { StateError(key: page.key, problem: problem) }

    /// Reads a word of 64 bits.
    public mutating func word() throws(StateError) -> UInt64 { try integer() }

    /// Reads a count; an error for one that no service reaches, so that sums of counts fit 64 bits.
    public mutating func count() throws(StateError) -> UInt64 {
        let count = try word()
        // A million a second for 35 years.
        guard count <= 1 << 50 else { throw error("a count that no service reaches") }
        return count
    }

    /// Reads an integer.
    @inlinable
    public mutating func integer<Word: FixedWidthInteger>() throws(StateError) -> Word {
        let size = MemoryLayout<Word>.size
        guard remaining >= size else { throw StateError(key: page.key, problem: "a page cut short") }
        var word: Word = 0
        unsafe withUnsafeMutableBytes(of: &word) { target in
            unsafe page.value.withUnsafeBytes { source in
                unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[position..<position + size]))
            }
        }
        position += size
        return Word(littleEndian: word)
    }
}
