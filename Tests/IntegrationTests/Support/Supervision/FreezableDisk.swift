// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A small ext4 in a file, whose writers hang while it is frozen, as they do on a disk that no longer answers.
struct FreezableDisk: Sendable {
    private let namespace: MountNamespace
    private let directory: String

    /// Mounts it at a directory; it goes with the namespace.
    init(at directory: String, in namespace: MountNamespace) async throws {
        for (program, package) in [
            ("/usr/sbin/fsfreeze", "util-linux"), ("/usr/sbin/losetup", "mount"), ("/usr/sbin/mkfs.ext4", "e2fsprogs"),
        ] {
            try MissingDependency.require(executable: program, package: package)
        }
        guard FileManager.default.fileExists(atPath: "/dev/loop-control") else {
            throw MissingDependency(
                description: "The integration tests need /dev/loop-control, for a disk that hangs: "
                    + "load the module (modprobe loop), or give the container the devices of the machine's /dev."
            )
        }
        self.namespace = namespace
        self.directory = directory
        try await run("truncate -s 64m '\(directory).image' && mkfs.ext4 -q '\(directory).image'")
        try await run("mount -o loop '\(directory).image' '\(directory)'")
    }

    func freeze() async throws {
        try await run("fsfreeze --freeze '\(directory)'")
    }

    func thaw() async throws {
        try await run("fsfreeze --unfreeze '\(directory)'")
    }

    private func run(_ script: String) async throws {
        let command = try await namespace.run(["/bin/sh", "-c", "PATH=/usr/sbin:/sbin:$PATH; \(script)"])
        guard command.status == .code(0) else {
            throw MissingDependency(description: "no disk in a file can be had here: \(script): \(command.error)")
        }
    }
}
