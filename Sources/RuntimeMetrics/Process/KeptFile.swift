// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc

    /// A file of `/proc` that stays open, so that it can still be read when no descriptor is left, and is read from its
    /// beginning into the same memory each time.
    ///
    /// It is read at once, since the kernel composes such a file anew for each read.
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
            var length = -1
            repeat {
                length = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
            } while length < 0 && errno == EINTR
            return length > 0 ? body(bytes.span.extracting(..<length)) : nil
        }
    }
#endif
