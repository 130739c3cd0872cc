// SPDX-License-Identifier: Apache-2.0

// The compiler ascribes `stat` to one of the three, depending on which it has met first.
internal import CDispatch
internal import CoreFoundation
internal import Glibc

/// What changes when a file does: its place, its size and its times (stat(2)), or that it is not there.
struct FileStamp: Hashable, Sendable {
    private var values: [Int64]

    /// Follows symbolic links, as secrets in containers are some.
    init(_ path: String) {
        var status = Glibc.stat()
        guard unsafe stat(path, &status) == 0 else {
            values = [Int64(errno)]
            return
        }
        values = [
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(status.st_ctim.tv_sec),
            Int64(status.st_ctim.tv_nsec), Int64(status.st_mode),
        ]
    }
}
