// SPDX-License-Identifier: Apache-2.0

internal import CCacheLines

/// Words in lines of 64 bytes, each of which fills one line of the processor's cache.
///
/// A copy of it may lie across the lines of the cache, which costs time and changes nothing else.
struct CacheLines<Word: FixedWidthInteger & Sendable>: Sendable {
    private static var lineBytes: Int { 64 }
    /// The words of a line: 8 of 64 bits, 16 of 32.
    @inline(__always) static var wordsPerLine: Int { lineBytes / MemoryLayout<Word>.size }

    private var words: [Word]
    /// The words before the first line, so that it begins at a multiple of its size.
    private let lead: Int
    /// The number of lines.
    let count: Int

    /// Creates lines of zeros.
    init(count: Int) {
        self.count = count
        words = [Word](repeating: 0, count: (count + 1) * Self.wordsPerLine - 1)
        let address = unsafe words.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        lead = Int((0 &- address) % UInt(Self.lineBytes)) / MemoryLayout<Word>.size
    }

    /// The memory of the words, in bytes.
    var byteCount: Int { words.count * MemoryLayout<Word>.size }

    /// A word of a line.
    @inline(__always)
    subscript(line: Int, place: Int) -> Word {
        get { words[start(of: line) &+ place] }
        set { words[start(of: line) &+ place] = newValue }
    }

    /// The places in a line whose words equal another in the bits of a mask, a bit each.
    ///
    /// Without branches, since none of them could be predicted.
    @inline(__always)
    func places(in line: Int, of wanted: Word, under mask: Word = ~0) -> UInt32 {
        let start = start(of: line)
        let line = words.span.extracting(start..<start &+ Self.wordsPerLine)
        var places: UInt32 = 0
        for place in 0..<Self.wordsPerLine { places |= (line[place] & mask == wanted ? 1 : 0) &<< UInt32(place) }
        return places
    }

    /// Where a line is.
    @inline(__always)
    func address(ofLine line: Int) -> MemoryAddress { words.span.address(ofElement: start(of: line)) }

    /// How many words of a line equal another. Without branches, as above.
    @inline(__always)
    func count(of wanted: Word, in line: Int) -> Int {
        let start = start(of: line)
        let line = words.span.extracting(start..<start &+ Self.wordsPerLine)
        var count = 0
        for place in 0..<Self.wordsPerLine { count &+= line[place] == wanted ? 1 : 0 }
        return count
    }

    /// Whether a line has a word, which it seldom has.
    @inline(__always)
    func contains(_ wanted: Word, in line: Int) -> Bool {
        let start = start(of: line)
        let line = words.span.extracting(start..<start &+ Self.wordsPerLine)
        for place in 0..<Self.wordsPerLine where line[place] == wanted { return true }
        return false
    }

    @inline(__always)
    private func start(of line: Int) -> Int { lead &+ line &* Self.wordsPerLine }
}

extension Span {
    /// Where an element is. Nothing is read there, so that any place will do.
    @inline(__always)
    func address(ofElement place: Int) -> MemoryAddress {
        let start = unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        return MemoryAddress(start &+ UInt(bitPattern: place &* MemoryLayout<Element>.stride))
    }
}

/// Memory that will be read soon, of which the processor can begin to load the lines of its cache.
///
/// Addresses are gathered first and loaded together: a call between two accesses to an array would count references to it.
struct MemoryAddress {
    let address: UInt

    @inline(__always)
    init(_ address: UInt = 0) {
        self.address = address
    }

    /// Begins to load so many lines, without waiting for them.
    @inline(__always)
    func load(lines: Int = 1) {
        for line in 0..<lines { load_cache_line(address &+ UInt(line &* 64)) }
    }
}
