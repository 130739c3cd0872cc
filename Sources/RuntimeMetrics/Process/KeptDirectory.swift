// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc

    /// A directory of `/proc` that stays open. Its stream has one place, so that one thread at a time may use it.
    @safe
    struct KeptDirectory: ~Copyable, @unchecked Sendable {
        private let stream: OpaquePointer?

        init(_ path: String) {
            unsafe stream = opendir(path)
        }

        deinit {
            if let stream = unsafe stream { unsafe closedir(stream) }
        }

        /// The number of entries; nil when the directory can't be read.
        ///
        /// Linux tells it as the size of `/proc/self/fd` from 6.2 on; else the entries are counted.
        func count() -> Int? {
            guard let stream = unsafe stream else { return nil }
            var status = stat()
            if unsafe fstat(dirfd(stream), &status) == 0, status.st_size > 0 { return Int(status.st_size) }
            return countByListing()
        }

        /// The number of entries without `.` and `..`.
        func countByListing() -> Int? {
            guard let stream = unsafe stream else { return nil }
            unsafe rewinddir(stream)
            var count = 0
            while let entry = unsafe readdir(stream) {
                if unsafe entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
            }
            return count
        }
    }
#endif
