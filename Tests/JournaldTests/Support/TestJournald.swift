// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

@testable import Journald

/// A real systemd-journald in a journal namespace of its own, so that tests can stop and kill it side by side.
final class TestJournald: Sendable {
    private static let program = "/lib/systemd/systemd-journald"
    private static let counter = Atomic<Int>(0)

    let namespace: String
    private let process = Mutex<ChildProcess?>(nil)

    var location: JournalLocation { .namespace(namespace) }
    var socketPath: String { location.socketPath }
    private var runDirectory: String { "/run/systemd/journal.\(namespace)" }
    private var configurationDirectory: String { "/run/systemd/journald@\(namespace).conf.d" }

    /// Prepares a namespace and starts journald in it.
    ///
    /// - Parameter settings: Lines of journald.conf(5).
    init(settings: String = "RateLimitIntervalSec=0", starting: Bool = true) throws {
        namespace = "swift-tests-\(getpid())-\(Self.counter.add(1, ordering: .relaxed).newValue)"
        guard geteuid() == 0 else {
            throw TestFailure("these tests start systemd-journald and need to run as root")
        }
        guard unsafe access(Self.program, X_OK) == 0 else {
            throw TestFailure("these tests need \(Self.program); install the package systemd")
        }
        for directory in ["/run/systemd", "/var/log/journal", runDirectory, configurationDirectory] {
            guard unsafe mkdir(directory, 0o755) == 0 || errno == EEXIST else {
                throw TestFailure("\(directory) could not be made: error \(errno)")
            }
        }
        try configure(settings)
        if starting { try start() }
    }

    deinit {
        process.withLock { process in
            process?.signal(SIGKILL)
            process?.wait()
        }
        let machine = (try? ChildProcess.output(of: "/bin/cat", ["/etc/machine-id"])) ?? []
        let id = String(decoding: machine.prefix(32), as: UTF8.self)
        let logs = id.isEmpty ? [] : ["/var/log/journal/\(id).\(namespace)", "/run/log/journal/\(id).\(namespace)"]
        _ = try? ChildProcess("/bin/rm", ["-rf", runDirectory, configurationDirectory] + logs).wait()
    }

    /// Writes the settings that the next start takes.
    func configure(_ settings: String) throws {
        let path = "\(configurationDirectory)/test.conf"
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw TestFailure("\(path) could not be written: error \(errno)") }
        defer { close(file) }
        let text = Array("[Journal]\nStorage=persistent\nSystemMaxUse=1G\n\(settings)\n".utf8)
        guard unsafe write(file, text, text.count) == text.count else {
            throw TestFailure("\(path) could not be written: error \(errno)")
        }
    }

    /// Starts journald and waits until it takes entries.
    func start() throws {
        let started = try ChildProcess(Self.program, [namespace])
        process.withLock { $0 = started }
        try Deadline().wait(for: "journald at \(socketPath)") { (try? JournalSocket(path: socketPath)) != nil }
    }

    func signal(_ number: Int32) {
        process.withLock { $0?.signal(number) }
    }

    /// Ends journald in an orderly way; its socket's file stays behind and refuses connections.
    func stop() {
        end(SIGTERM)
    }

    func killAtOnce() {
        end(SIGKILL)
    }

    private func end(_ number: Int32) {
        process.withLock { process in
            process?.signal(number)
            process?.wait()
            process = nil
        }
    }

    /// Runs journalctl on the namespace.
    func journalctl(_ arguments: String...) throws -> [UInt8] {
        try ChildProcess.output(of: "/bin/journalctl", ["--namespace=\(namespace)", "-q", "--no-pager"] + arguments)
    }

    /// The values of a field in the journal's order, as journalctl shows them: of all entries, or of an identifier's.
    func values(of field: String, identifier: String? = nil) throws -> [String] {
        let arguments = ["--namespace=\(namespace)", "-q", "--no-pager", "--output=cat", "--output-fields=\(field)"]
        let output = try ChildProcess.output(
            of: "/bin/journalctl",
            arguments + (identifier.map { ["--identifier=\($0)"] } ?? [])
        )
        return output.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The numbers of the entries that `journalctl -t` lists.
    func sequences() throws -> [UInt64] {
        try values(of: "TEST_SEQ", identifier: TestDelivery.identifier).compactMap { UInt64($0) }
    }

    /// The numbers of the entries that journalctl lists without a match.
    func sequencesOfEveryEntry() throws -> [UInt64] {
        try values(of: "TEST_SEQ").compactMap { UInt64($0) }
    }

    /// Takes the last entry that has a value out of the index of that value, as a journald leaves it that is killed
    /// between writing the entry and reaching that field; journald must not run.
    ///
    /// - Parameter assignment: The value with its field, as `FIELD=value`.
    func removeLastEntryFromIndex(of assignment: String) throws { try file().removeLastEntry(of: assignment) }

    /// The file that journald writes.
    func file() throws -> JournalFile {
        let machine = try ChildProcess.output(of: "/bin/cat", ["/etc/machine-id"])
        let id = String(decoding: machine.prefix(32), as: UTF8.self)
        return JournalFile(path: "/var/log/journal/\(id).\(namespace)/system.journal")
    }
}

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
