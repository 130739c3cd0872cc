// SPDX-License-Identifier: Apache-2.0

internal import Gzip

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
