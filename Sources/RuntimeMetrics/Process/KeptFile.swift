// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file of `/proc` that stays open, so that it can still be read when no descriptor is left, and is read from its
/// beginning into the same memory each time.
struct KeptFile: ~Copyable {
    private let descriptor: Int32
    private var bytes: [UInt8]

    /// - Parameter capacity: Bytes that are read of it at most.
    init(_ path: String, capacity: Int) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        bytes = [UInt8](repeating: 0, count: capacity)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// What `body` makes of the content; nil when it can't be read.
    mutating func read<Result>(_ body: (Span<UInt8>) -> Result?) -> Result? {
        var length = 0
        while descriptor >= 0, length < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { all in
                unsafe pread(descriptor, all.baseAddress.map { unsafe $0 + length }, all.count - length, off_t(length))
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            length += count
        }
        return length == 0 ? nil : body(bytes.span.extracting(..<length))
    }
}
