// SPDX-License-Identifier: Apache-2.0

internal import Gzip
internal import MetricsRegistry
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Compresses pages, and remembers the last one of each format so that only what has changed is deflated again.
///
/// Several may be compressed at once: none waits for another's deflating.
final class PageCompressor: Sendable {
    private struct Remembered {
        var page: CompressedPage
        var bytes: Int
        var usedAt: UInt64
    }

    private struct State {
        var pages: [ExpositionFormat: Remembered] = [:]
        var bytes = 0
        var uses: UInt64 = 0
        var deflaters: [PageDeflater] = []

        mutating func use(_ format: ExpositionFormat?) -> CompressedPage {
            guard let format, let remembered = pages[format] else { return CompressedPage() }
            uses += 1
            pages[format]?.usedAt = uses
            return remembered.page
        }

        /// Remembers a page in place of the last one of its format and, where there is no room, of those least recently used.
        mutating func remember(
            _ page: CompressedPage,
            _ size: Int,
            as format: ExpositionFormat,
            atMost maximum: Int
        ) {
            forget(format)
            guard size <= maximum else { return }
            while bytes + size > maximum, let oldest = pages.min(by: { $0.value.usedAt < $1.value.usedAt }) {
                forget(oldest.key)
            }
            uses += 1
            pages[format] = Remembered(page: page, bytes: size, usedAt: uses)
            bytes += size
        }

        private mutating func forget(_ format: ExpositionFormat) {
            guard let forgotten = pages.removeValue(forKey: format) else { return }
            bytes -= forgotten.bytes
        }
    }

    private let maximumBytes: Int
    private let keptDeflaters: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximumBytes: of the pages that are remembered, both forms together.
    ///   - keptDeflaters: that wait for the next page; one takes some 260 KiB.
    init(maximumBytes: Int = 16 << 20, keptDeflaters: Int = 2) {
        self.maximumBytes = maximumBytes
        self.keptDeflaters = keptDeflaters
    }

    /// The page as one gzip member; nil when zlib has no memory for it.
    ///
    /// - Parameter format: what the page is remembered by; nil: it is not remembered.
    func compress(_ page: Span<UInt8>, as format: ExpositionFormat?) -> [UInt8]? {
        let (earlier, waiting) = state.withLock { ($0.use(format), $0.deflaters.popLast()) }
        guard let deflater = waiting ?? PageDeflater() else { return nil }
        let compressed = CompressedPage(page, after: earlier, with: deflater)
        let bytes = compressed?.bytes ?? 0
        state.withLock { state in
            if state.deflaters.count < keptDeflaters { state.deflaters.append(deflater) }
            guard let format, let compressed else { return }
            state.remember(compressed, bytes, as: format, atMost: maximumBytes)
        }
        return compressed?.member
    }

    /// The memory that the remembered pages take, in bytes.
    var bytes: Int { state.withLock { $0.bytes } }
}

/// A page in pieces that were deflated, by which the next page of its kind is compressed: a piece whose bytes it has
/// too is not deflated again.
struct CompressedPage: Sendable {
    /// How many bytes of its beginning a piece is looked for by.
    private static let keyBytes = 64

    private(set) var chunks: [DeflatedChunk] = []
    /// How many of the pieces were made for this page.
    private(set) var deflated = 0
    private var places: [Key: Int] = [:]

    /// The beginning of a piece, and its length.
    private struct Key: Hashable {
        let beginning: [UInt8]
        let count: Int

        init(_ piece: Span<UInt8>) {
            beginning = (0..<min(keyBytes, piece.count)).map { piece[$0] }
            count = piece.count
        }
    }

    /// A page before any other.
    init() {}

    /// Compresses a page; nil when zlib fails.
    ///
    /// - Parameter earlier: the page whose pieces may be taken over.
    init?(_ page: Span<UInt8>, after earlier: CompressedPage, with deflater: PageDeflater) {
        var start = 0
        while start < page.count {
            let piece = page.extracting(start..<PageCut.end(from: start, in: page))
            let key = Key(piece)
            guard let chunk = earlier.chunk(key, like: piece) ?? deflate(piece, with: deflater) else { return nil }
            places[key] = chunks.count
            chunks.append(chunk)
            start += piece.count
        }
    }

    /// The memory that it takes, in bytes.
    var bytes: Int { chunks.reduce(0) { $0 + $1.bytes } }

    /// The page as one gzip member.
    var member: [UInt8] { GzipMember.join(chunks) }

    private func chunk(_ key: Key, like piece: Span<UInt8>) -> DeflatedChunk? {
        guard let place = places[key], chunks[place].isOf(piece) else { return nil }
        return chunks[place]
    }

    private mutating func deflate(_ piece: Span<UInt8>, with deflater: PageDeflater) -> DeflatedChunk? {
        deflated += 1
        return deflater.deflate(piece)
    }
}

/// Where a page is cut into pieces that are deflated on their own.
///
/// The places follow from the bytes nearby: at the head of a family where there is one, else behind a line. So a change
/// of one family leaves the pieces of the others as they are. A page of another language is cut at the same bytes, which
/// mean nothing there.
enum PageCut {
    /// Smaller pieces would deflate worse.
    static let least = 16 << 10
    /// Larger ones would be deflated anew for small changes.
    static let most = 64 << 10

    /// The end of the piece that begins at `start`, behind it.
    static func end(from start: Int, in page: Span<UInt8>) -> Int {
        guard page.count - start > least else { return page.count }
        let last = min(start + most, page.count)
        return unsafe page.withUnsafeBytes { page in
            var behindLine = last
            var next = start + least
            while let line = unsafe endOfLine(page, from: next, to: last) {
                if unsafe line < page.count && page[line] == UInt8(ascii: "#") { return line }
                behindLine = line
                next = line
            }
            return last < page.count ? behindLine : last
        }
    }

    /// Behind the first newline of a range.
    private static func endOfLine(_ page: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = page.baseAddress,
            let newline = unsafe memchr(base + start, 0x0A, end - start)
        else { return nil }
        return unsafe UnsafeRawPointer(newline) - base + 1
    }
}
