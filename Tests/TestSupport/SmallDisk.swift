// SPDX-License-Identifier: Apache-2.0

/// A file system in memory, of one megabyte unless told otherwise; mounting it takes root.
package final class SmallDisk: Sendable {
    package let directory: TemporaryDirectory

    package init(megabytes: Int = 1) throws {
        directory = try TemporaryDirectory()
        try Program.run("/bin/mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0700", "tmpfs", directory.path])
    }

    /// Takes that many bytes of it with a file that stays.
    package func load(ballast bytes: Int) throws {
        try Program.run("/usr/bin/fallocate", ["-l", "\(bytes)", directory.file("ballast")])
    }

    deinit {
        _ = try? Program.run("/bin/umount", [directory.path])
    }
}
