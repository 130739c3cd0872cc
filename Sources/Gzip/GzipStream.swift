// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// Decompresses a stream of one or more gzip members (RFC 1952) in constant memory.
@safe
package struct GzipStream: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutableRawBufferPointer
    private var isInsideMember = false

    package init() throws(GzipError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe input = .allocate(byteCount: 256 << 10, alignment: 16)
        guard unsafe dnp_inflate_gzip_init(stream) == Z_OK else { throw .outOfMemory }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe input.deallocate()
    }

    /// Sets compressed bytes that were read already; at most 256 KiB.
    package mutating func prime(_ bytes: UnsafeRawBufferPointer) {
        unsafe input.copyMemory(from: bytes)
        unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_in = UInt32(bytes.count)
    }

    /// Writes at least one byte into the buffer, as far as one refill reaches; 0 at the end.
    ///
    /// - Parameter refill: reads more compressed bytes; 0 at their end.
    package mutating func read<Failure: Error>(
        into buffer: UnsafeMutableRawBufferPointer,
        refill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Result<Int, GzipError> {
        unsafe stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(clamping: buffer.count)
        while true {
            if unsafe stream.pointee.avail_in == 0 {
                let count = unsafe try refill(input)
                if count == 0 { return isInsideMember ? .failure(.truncated) : .success(0) }
                unsafe stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe stream.pointee.avail_in = UInt32(count)
            }
            isInsideMember = true
            switch unsafe inflate(stream, Z_NO_FLUSH) {
            case Z_STREAM_END:
                isInsideMember = false
                guard unsafe inflateReset(stream) == Z_OK else { return .failure(.damaged) }
            case Z_OK, Z_BUF_ERROR: break
            case Z_MEM_ERROR: return .failure(.outOfMemory)
            default: return .failure(.damaged)
            }
            let produced = unsafe buffer.count - Int(stream.pointee.avail_out)
            if produced > 0 { return .success(produced) }
        }
    }
}
