// SPDX-License-Identifier: Apache-2.0

internal import CZlib

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Deflates pieces of pages, each on its own; used by one thread at a time.
///
/// The only place that touches zlib's pointers for writing.
@safe
package final class PageDeflater: @unchecked Sendable {
    /// zlib's level. A page is text that repeats itself: higher levels take two to four times as long to save a third.
    private static let level: Int32 = 3
    /// What zlib's bound does not hold for the end of a full flush.
    private static let flushRoom = 16

    private let stream: UnsafeMutablePointer<z_stream>

    /// Nil when there is no memory for it.
    package init?() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe dnp_deflate_raw_init(stream, Self.level) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The piece with its deflated form; nil when zlib fails.
    package func deflate(_ piece: Span<UInt8>) -> DeflatedChunk? {
        guard unsafe deflateReset(stream) == Z_OK else { return nil }
        let room = Int(unsafe deflateBound(stream, UInt(piece.count))) + Self.flushRoom
        return unsafe piece.withUnsafeBufferPointer { input -> DeflatedChunk? in
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
            var isWhole = false
            let deflated = unsafe [UInt8](unsafeUninitializedCapacity: room) { target, count in
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(clamping: target.count)
                let status = unsafe CZlib.deflate(stream, Z_FULL_FLUSH)
                unsafe count = target.count - Int(stream.pointee.avail_out)
                isWhole = unsafe status == Z_OK && stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0
            }
            guard isWhole else { return nil }
            let checksum = unsafe crc32(0, input.baseAddress, UInt32(clamping: input.count))
            // A copy, since the array has room for far more than was written.
            return unsafe DeflatedChunk(source: Array(input), deflated: Array(deflated[...]), checksum: checksum)
        }
    }
}

/// A piece of a page with its deflated form, which stands for itself and can be joined with others.
package final class DeflatedChunk: Sendable {
    /// Of which bytes of the page it was made.
    package let source: [UInt8]
    /// Deflate (RFC 1951) blocks that end at a whole byte, refer to nothing before them, and are not the last ones.
    package let deflated: [UInt8]
    /// Of the source.
    package let checksum: UInt

    package init(source: [UInt8], deflated: [UInt8], checksum: UInt) {
        self.source = source
        self.deflated = deflated
        self.checksum = checksum
    }

    /// The memory that it takes, in bytes.
    package var bytes: Int { source.count + deflated.count }

    /// Whether the piece has just these bytes.
    package func isOf(_ piece: Span<UInt8>) -> Bool {
        guard piece.count == source.count else { return false }
        return unsafe piece.withUnsafeBytes { piece in
            unsafe source.withUnsafeBytes { source in
                guard let left = piece.baseAddress, let right = source.baseAddress else { return true }
                return unsafe memcmp(left, right, piece.count) == 0
            }
        }
    }
}

/// One gzip member (RFC 1952) of deflated pieces.
package enum GzipMember {
    /// Deflated by something unknown on something unknown, at no time.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    /// A last block that is empty.
    private static let lastBlock: [UInt8] = [0x03, 0x00]
    private static let trailerBytes = 8

    package static func join(_ chunks: [DeflatedChunk]) -> [UInt8] {
        var member: [UInt8] = []
        let deflated = chunks.reduce(0) { $0 + $1.deflated.count }
        member.reserveCapacity(header.count + deflated + lastBlock.count + trailerBytes)
        member += header
        var checksum: UInt = 0
        var size = 0
        for chunk in chunks {
            member += chunk.deflated
            checksum = crc32_combine(checksum, chunk.checksum, chunk.source.count)
            size += chunk.source.count
        }
        member += lastBlock
        for word in [UInt32(truncatingIfNeeded: checksum), UInt32(truncatingIfNeeded: size)] {
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                member.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return member
    }
}

/// A body as gzip, where that is worth it.
package enum GzipBody {
    /// Smaller bodies fit one packet anyway.
    package static let least = 1_024
    /// A collector takes what is compressed better for an attack (200 by default), unless it is small.
    private static let highestRatio = 150
    private static let piece = 1 << 20

    /// Nil where the body should leave as it is.
    package static func compress(_ body: [UInt8]) -> [UInt8]? {
        guard body.count >= least, let deflater = PageDeflater() else { return nil }
        var chunks: [DeflatedChunk] = []
        var start = 0
        while start < body.count {
            let end = min(start + piece, body.count)
            guard let chunk = deflater.deflate(body.span.extracting(start..<end)) else { return nil }
            chunks.append(chunk)
            start = end
        }
        let compressed = GzipMember.join(chunks)
        guard compressed.count < body.count else { return nil }
        let isUnsuspicious =
            body.count <= GzipDecoder.unsuspiciousBytes || body.count / compressed.count <= highestRatio
        return isUnsuspicious ? compressed : nil
    }
}
