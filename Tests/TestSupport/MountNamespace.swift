// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A mount namespace with a `/run` and a `/var/log` of its own.
///
/// A journald in it is a whole journald (its sockets, its files, its `journalctl`), and stopping or killing it
/// disturbs nothing else on the machine. Whatever still runs in the namespace ends with it, even when the test process
/// is killed: the holder reads its standard input to the end and then ends the rest.
package struct MountNamespace: Sendable {
    private let holder: ChildProcess
    private let identifier: Int32

    private static let script = """
        set -e
        mkdir -p "$1/log/journal"
        mount -t tmpfs -o mode=755,size=256m tmpfs /run
        mount --bind "$1/log" /var/log
        mkdir -p /run/systemd/journal /run/systemd/journald.conf.d
        echo ready
        set +e
        cat > /dev/null
        own=$(readlink /proc/self/ns/mnt)
        for process in /proc/[0-9]*; do
            pid=${process#/proc/}
            [ "$pid" != $$ ] && [ "$(readlink $process/ns/mnt 2>/dev/null)" = "$own" ] && kill -9 "$pid"
        done
        exit 0
        """

    private init(holder: ChildProcess, identifier: Int32) {
        self.holder = holder
        self.identifier = identifier
    }

    package static func with<Value>(_ body: (MountNamespace) async throws -> Value) async throws -> Value {
        try MissingDependency.requireRoot(to: "make a mount namespace for a journald of their own")
        try MissingDependency.require(executable: "/usr/bin/unshare", package: "util-linux")
        try MissingDependency.require(executable: "/usr/bin/nsenter", package: "util-linux")
        return try await withTemporaryDirectory { directory in
            let holder = try ChildProcess(
                ["/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "sh", directory],
                logs: directory,
                name: "namespace"
            )
            let namespace = await MountNamespace(holder: holder, identifier: holder.identifier)
            do {
                try await eventually("the mount namespace is ready", within: .seconds(10)) {
                    if await holder.exitStatus != nil { throw Refused(reason: holder.errorText) }
                    return !holder.output.isEmpty
                }
                let value = try await body(namespace)
                await namespace.close()
                return value
            } catch {
                await namespace.close()
                throw error
            }
        }
    }

    package struct Refused: Error, CustomStringConvertible {
        package let reason: String
        package var description: String {
            "no mount namespace can be made here (a container needs CAP_SYS_ADMIN): \(reason)"
        }
    }

    /// The command that runs `command` inside, in the same process.
    package func entering(_ command: [String]) -> [String] {
        ["/usr/bin/nsenter", "--mount=/proc/\(identifier)/ns/mnt", "--"] + command
    }

    /// The path at which the outside sees a path of the inside.
    package func outside(_ path: String) -> String { "/proc/\(identifier)/root\(path)" }

    /// Runs a command inside to its end.
    package func run(_ command: [String], within limit: Duration = .seconds(60)) async throws -> Command {
        try await Command.run(entering(command), within: limit)
    }

    /// Mounts a small file system of its own at a directory.
    package func mountMemory(at directory: String, options: String) async throws {
        let mount = try await run(["/usr/bin/mount", "-t", "tmpfs", "-o", options, "tmpfs", directory])
        guard mount.status == .code(0) else { throw Refused(reason: mount.error) }
    }

    private func close() async {
        try? await holder.closeInput()
        if (try? await holder.waitForExit(within: .seconds(10))) == nil { await holder.killAndWait() }
    }
}
