// SPDX-License-Identifier: Apache-2.0

internal import CZlib

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Deflates pieces of a page independently of each other; used by one thread at a time.
///
/// The only place that touches zlib's pointers for writing.
@safe
package final class PageDeflater: @unchecked Sendable {
    /// zlib's level. A page is repetitive text: higher levels take two to four times as long to save a third.
    private static let level: Int32 = 3
    /// The bytes of the end of a full flush, which zlib's bound leaves out.
    private static let flushRoom = 16

    private let stream: UnsafeMutablePointer<z_stream>

    /// Nil when zlib has no memory.
    package convenience init?() {
        self.init(level: Self.level)
    }

    /// - Parameter level: 0 to 9; zlib fails to start with any other.
    init?(level: Int32) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // `deinit` runs after a failed start too and frees the stream; `deflateEnd` ignores one that was not started.
        guard unsafe dnp_deflate_raw_init(stream, level) == Z_OK else { return nil }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Deflates a piece; nil when zlib fails.
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
            // A copy of the right size, since the array was allocated for the worst case.
            return unsafe DeflatedChunk(source: Array(input), deflated: Array(deflated[...]), checksum: checksum)
        }
    }
}

/// A piece of a page with its deflated form, which can be joined with others.
package final class DeflatedChunk: Sendable {
    /// The bytes of the page.
    package let source: [UInt8]
    /// Deflate (RFC 1951) blocks that end at a whole byte, refer to nothing before them, and are not the last ones.
    package let deflated: [UInt8]
    /// The CRC-32 of the source.
    package let checksum: UInt

    package init(source: [UInt8], deflated: [UInt8], checksum: UInt) {
        self.source = source
        self.deflated = deflated
        self.checksum = checksum
    }

    /// The memory of both, in bytes.
    package var bytes: Int { source.count + deflated.count }

    /// Whether the chunk was made of these bytes.
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

/// Joins deflated chunks into one gzip member (RFC 1952).
package enum GzipMember {
    /// Deflate, no flags, no time, unknown operating system.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    /// An empty final block.
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

/// Compresses a request body where that is worth it.
package enum GzipBody {
    /// Smaller bodies fit one packet uncompressed.
    package static let least = 1_024
    /// Below the ratio from which a collector suspects an attack (200 by default).
    private static let highestRatio = 150
    private static let piece = 1 << 20

    /// Nil where the body should be sent uncompressed.
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
