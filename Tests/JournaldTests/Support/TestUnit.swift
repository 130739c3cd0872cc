// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A control group that looks like a systemd unit's, because journald limits the rate of units only.
final class TestUnit: Sendable {
    private static let root =
        unsafe access("/sys/fs/cgroup/unified", F_OK) == 0 ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup"

    let path: String

    init(_ name: String) throws {
        let slice = "\(Self.root)/system.slice"
        path = "\(slice)/\(name).service"
        for directory in [slice, path] {
            guard unsafe mkdir(directory, 0o755) == 0 || errno == EEXIST else {
                throw TestFailure(
                    "\(directory) could not be made: error \(errno); the test needs root and writable control groups"
                )
            }
        }
    }

    deinit {
        unsafe rmdir(path)
        unsafe rmdir("\(Self.root)/system.slice")
    }

    /// Moves the current process into the unit.
    static func enter(_ path: String) throws {
        let file = unsafe open("\(path)/cgroup.procs", O_WRONLY)
        guard file >= 0 else { throw TestFailure("\(path) could not be entered: error \(errno)") }
        defer { close(file) }
        guard unsafe write(file, "0", 1) == 1 else { throw TestFailure("\(path) could not be entered: error \(errno)") }
    }
}
