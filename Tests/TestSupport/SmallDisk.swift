// SPDX-License-Identifier: Apache-2.0

/// A file system of one megabyte in memory; mounting it takes root.
package final class SmallDisk: Sendable {
    package let directory: TemporaryDirectory

    package init() throws {
        directory = try TemporaryDirectory()
        try Program.run("/bin/mount", ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", directory.path])
    }

    deinit {
        _ = try? Program.run("/bin/umount", [directory.path])
    }
}
