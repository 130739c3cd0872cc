// SPDX-License-Identifier: Apache-2.0

internal import CZlib

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
