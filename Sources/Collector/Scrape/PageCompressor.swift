// SPDX-License-Identifier: Apache-2.0

internal import Gzip
internal import MetricsRegistry
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Compresses pages with a cache of the last page of each format, so that only changed pieces are deflated again.
///
/// Pages are compressed concurrently: the lock guards the cache and is not held while deflating.
final class PageCompressor: Sendable {
    private struct CachedPage {
        var page: CompressedPage
        var bytes: Int
        /// The count of uses at its last use, which orders pages for eviction.
        var lastUse: UInt64
    }

    private struct State {
        var pages: [ExpositionFormat: CachedPage] = [:]
        var bytes = 0
        var uses: UInt64 = 0
        var deflaters: [PageDeflater] = []

        mutating func use(_ format: ExpositionFormat?) -> CompressedPage {
            guard let format, let cached = pages[format] else { return CompressedPage() }
            uses += 1
            pages[format]?.lastUse = uses
            return cached.page
        }

        /// Replaces the page of a format, and evicts the least recently used ones while there are too many bytes.
        mutating func store(
            _ page: CompressedPage,
            _ size: Int,
            as format: ExpositionFormat,
            atMost maximum: Int
        ) {
            evict(format)
            guard size <= maximum else { return }
            while bytes + size > maximum, let oldest = pages.min(by: { $0.value.lastUse < $1.value.lastUse }) {
                evict(oldest.key)
            }
            uses += 1
            pages[format] = CachedPage(page: page, bytes: size, lastUse: uses)
            bytes += size
        }

        private mutating func evict(_ format: ExpositionFormat) {
            guard let evicted = pages.removeValue(forKey: format) else { return }
            bytes -= evicted.bytes
        }
    }

    private let maximumBytes: Int
    private let keptDeflaters: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximumBytes: The limit of the cache, for plain and deflated bytes together.
    ///   - keptDeflaters: How many idle deflaters are kept for reuse; one takes some 260 KiB.
    init(maximumBytes: Int = 16 << 20, keptDeflaters: Int = 2) {
        self.maximumBytes = maximumBytes
        self.keptDeflaters = keptDeflaters
    }

    /// The page as one gzip member; nil when zlib has no memory for it.
    ///
    /// - Parameter format: The key in the cache; nil for a page that is not cached.
    func compress(_ page: Span<UInt8>, as format: ExpositionFormat?) -> [UInt8]? {
        let (earlier, idle) = state.withLock { ($0.use(format), $0.deflaters.popLast()) }
        guard let deflater = idle ?? PageDeflater() else { return nil }
        let compressed = CompressedPage(page, after: earlier, with: deflater)
        let bytes = compressed?.bytes ?? 0
        state.withLock { state in
            if state.deflaters.count < keptDeflaters { state.deflaters.append(deflater) }
            guard let format, let compressed else { return }
            state.store(compressed, bytes, as: format, atMost: maximumBytes)
        }
        return compressed?.member
    }

    /// The memory that cached pages take.
    var bytes: Int { state.withLock { $0.bytes } }
}

/// A page in deflated pieces, which the next page of its format reuses where their bytes are the same.
struct CompressedPage: Sendable {
    /// How many bytes at its beginning are the key of a piece.
    private static let keyBytes = 64

    private(set) var chunks: [DeflatedChunk] = []
    /// How many pieces were deflated for this page, not reused.
    private(set) var deflated = 0
    private var indices: [Key: Int] = [:]

    /// The beginning of a piece, and its length.
    private struct Key: Hashable {
        let beginning: [UInt8]
        let count: Int

        init(_ piece: Span<UInt8>) {
            beginning = (0..<min(keyBytes, piece.count)).map { piece[$0] }
            count = piece.count
        }
    }

    /// An empty page.
    init() {}

    /// Compresses a page; nil when zlib fails.
    ///
    /// - Parameter earlier: The page whose pieces may be reused.
    init?(_ page: Span<UInt8>, after earlier: CompressedPage, with deflater: PageDeflater) {
        var start = 0
        while start < page.count {
            let piece = page.extracting(start..<PageCut.end(from: start, in: page))
            let key = Key(piece)
            guard let chunk = earlier.chunk(key, like: piece) ?? deflate(piece, with: deflater) else { return nil }
            indices[key] = chunks.count
            chunks.append(chunk)
            start += piece.count
        }
    }

    /// The memory that it takes.
    var bytes: Int { chunks.reduce(0) { $0 + $1.bytes } }

    /// The page as one gzip member.
    var member: [UInt8] { GzipMember.join(chunks) }

    private func chunk(_ key: Key, like piece: Span<UInt8>) -> DeflatedChunk? {
        guard let index = indices[key], chunks[index].isOf(piece) else { return nil }
        return chunks[index]
    }

    private mutating func deflate(_ piece: Span<UInt8>, with deflater: PageDeflater) -> DeflatedChunk? {
        deflated += 1
        return deflater.deflate(piece)
    }
}

/// Where a page is cut into pieces that are deflated separately.
///
/// The cuts depend on nearby bytes alone (content-defined chunking): before the head of a family where there is one, else
/// after a line. A change in one family leaves the pieces of the others unchanged. A protobuf page is cut at the same
/// bytes, which have no meaning there.
enum PageCut {
    /// Smaller pieces compress worse.
    static let minimumBytes = 16 << 10
    /// Larger pieces would be deflated again for small changes.
    static let maximumBytes = 64 << 10

    /// The end of the piece that begins at `start`.
    static func end(from start: Int, in page: Span<UInt8>) -> Int {
        guard page.count - start > minimumBytes else { return page.count }
        let last = min(start + maximumBytes, page.count)
        return unsafe page.withUnsafeBytes { page in
            var lineEnd = last
            var next = start + minimumBytes
            while let line = unsafe endOfLine(page, from: next, to: last) {
                if unsafe line < page.count && page[line] == UInt8(ascii: "#") { return line }
                lineEnd = line
                next = line
            }
            return last < page.count ? lineEnd : last
        }
    }

    /// The index after the first newline of a range.
    private static func endOfLine(_ page: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = page.baseAddress,
            let newline = unsafe memchr(base + start, 0x0A, end - start)
        else { return nil }
        return unsafe UnsafeRawPointer(newline) - base + 1
    }
}
