// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import Journald

/// The machine's own journald: the one that runs, or one started for a test.
///
/// A lock is held meanwhile, shared when journald was running, so that nobody else stops it.
final class MachineJournald {
    private let lock: Int32
    private var process: ChildProcess?

    init() throws {
        guard geteuid() == 0 else {
            throw TestFailure("this test writes to systemd-journald and reads its journal; run it as root")
        }
        lock = unsafe open("/tmp/dnp-journald.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard lock >= 0 else { throw TestFailure("/tmp/dnp-journald.lock could not be opened: error \(errno)") }
        flock(lock, LOCK_SH)
        guard (try? JournalSocket()) == nil else { return }
        flock(lock, LOCK_EX)
        guard (try? JournalSocket()) == nil else { return }
        for directory in ["/run/systemd", "/run/systemd/journal", "/var/log/journal"] {
            unsafe mkdir(directory, 0o755)
        }
        let started = try ChildProcess("/lib/systemd/systemd-journald")
        process = started
        try Deadline().wait(for: "journald at \(JournalSocket.defaultPath)") { (try? JournalSocket()) != nil }
    }

    deinit {
        process?.signal(SIGTERM)
        process?.wait()
        close(lock)
    }
}
