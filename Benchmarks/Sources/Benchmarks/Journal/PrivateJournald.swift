// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import Journald

/// A systemd-journald started by hand, with an empty journal. `Benchmarks/run` has given the benchmarks a `/run` and a
/// `/var/log` of their own for it.
final class PrivateJournald {
    private static let program = "/lib/systemd/systemd-journald"
    private static let settings = """
        [Journal]
        Storage=persistent
        SystemMaxUse=4G
        Audit=no
        RateLimitIntervalSec=1s
        RateLimitBurst=100000000

        """
    private let process: ChildProcess

    init() throws {
        for directory in ["/run/systemd/journal", "/run/systemd/journald.conf.d", "/var/log/journal"] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        try Data(Self.settings.utf8).write(to: URL(fileURLWithPath: "/run/systemd/journald.conf.d/benchmarks.conf"))
        // journald keeps to /run until this file says that /var is there.
        try Data().write(to: URL(fileURLWithPath: "/run/systemd/journal/flushed"))
        process = try ChildProcess([Self.program])
        try Deadline(seconds: 30).wait(for: "journald to answer") { (try? JournalSocket()) != nil }
    }

    deinit {
        process.end(with: SIGTERM)
        for directory in ["/var/log/journal", "/run/systemd/journal", "/run/log/journal"] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for name in names { TemporaryDirectory.remove("\(directory)/\(name)") }
        }
    }
}
