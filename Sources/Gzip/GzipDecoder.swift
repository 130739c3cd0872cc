// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// Why a gzip body cannot be read.
package enum GzipError: Error, Equatable {
    /// The bytes are not gzip (RFC 1952), or their checksum is wrong.
    case damaged
    /// The bytes end before the stream does.
    case truncated
    /// The content is larger than allowed.
    case tooLarge
    /// The compression ratio is so high that the body is refused as a decompression bomb.
    case suspiciousRatio
    /// Memory was not available or not granted.
    case outOfMemory
}

/// Decompresses a gzip body of one or more members, within limits.
///
/// Total: every input gives bytes or an error.
package enum GzipDecoder {
    /// Content below this size in bytes is accepted at any ratio.
    package static let unsuspiciousBytes = 1 << 20
    private static let chunk = 64 << 10

    /// - Parameter mayGrow: whether so many more bytes of content may be kept.
    package static func decode(
        _ body: Span<UInt8>,
        maximumBytes: Int,
        maximumRatio: Int,
        mayGrow: (Int) -> Bool = { _ in true }
    ) throws(GzipError) -> [UInt8] {
        var output: [UInt8] = []
        let byRatio = max(unsuspiciousBytes, body.count.multipliedReportingOverflow(by: maximumRatio).partialValue)
        let result = unsafe body.withUnsafeBufferPointer { input in
            unsafe inflateAll(input, &output, limit: min(maximumBytes, byRatio), mayGrow)
        }
        switch result {
        case .success: return output
        case .failure(.tooLarge) where byRatio < maximumBytes: throw .suspiciousRatio
        case .failure(let error): throw error
        }
    }

    private static func inflateAll(
        _ input: UnsafeBufferPointer<UInt8>,
        _ output: inout [UInt8],
        limit: Int,
        _ mayGrow: (Int) -> Bool
    ) -> Result<Void, GzipError> {
        guard input.count > 0, input.count <= Int(UInt32.max), let base = input.baseAddress else {
            return .failure(.truncated)
        }
        var stream = unsafe z_stream()
        guard unsafe dnp_inflate_gzip_init(&stream) == Z_OK else { return .failure(.outOfMemory) }
        defer { unsafe inflateEnd(&stream) }
        unsafe stream.next_in = UnsafeMutablePointer(mutating: base)
        unsafe stream.avail_in = UInt32(input.count)
        var buffer = [UInt8](repeating: 0, count: chunk)
        while true {
            let (status, produced) = unsafe buffer.withUnsafeMutableBufferPointer { target in
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = UInt32(target.count)
                let status = unsafe inflate(&stream, Z_NO_FLUSH)
                return (status, unsafe target.count - Int(stream.avail_out))
            }
            guard output.count + produced <= limit else { return .failure(.tooLarge) }
            guard mayGrow(produced) else { return .failure(.outOfMemory) }
            output.append(contentsOf: buffer[..<produced])
            switch status {
            case Z_STREAM_END:
                if unsafe stream.avail_in == 0 { return .success(()) }
                guard unsafe inflateReset(&stream) == Z_OK else { return .failure(.damaged) }
            case Z_OK:
                if unsafe stream.avail_in == 0, produced < chunk { return .failure(.truncated) }
            case Z_BUF_ERROR:
                return .failure(.truncated)
            case Z_MEM_ERROR:
                return .failure(.outOfMemory)
            default:
                return .failure(.damaged)
            }
        }
    }
}
