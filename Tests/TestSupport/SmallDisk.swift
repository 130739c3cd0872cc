// SPDX-License-Identifier: Apache-2.0

/// A file system in memory, of one megabyte unless told otherwise; mounting it takes root.
package final class SmallDisk: Sendable {
    package let directory: TemporaryDirectory

    package init(megabytes: Int = 1) throws {
        directory = try TemporaryDirectory()
        try Program.run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0700", "tmpfs", directory.path])
    }

    deinit {
        _ = try? Program.run("/bin/umount", [directory.path])
    }
}
