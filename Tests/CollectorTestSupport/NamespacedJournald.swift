// SPDX-License-Identifier: Apache-2.0

package import EventLedger
import Foundation
package import Journald
import TestSupport

@testable package import Collector
@testable package import LedgerState

/// A real systemd-journald in a journal namespace of its own; starting it takes root.
package final class NamespacedJournald: Sendable {
    private static let program = "/lib/systemd/systemd-journald"
    private let name = "collector-tests-" + UUID().uuidString.prefix(8)
    private let process = Process()

    package var location: JournalLocation { .namespace(name) }
    private var socket: String { location.socketPath }
    private var runDirectory: String { "/run/systemd/journal.\(name)" }
    private var configurationDirectory: String { "/run/systemd/journald@\(name).conf.d" }

    /// - Parameter settings: lines of journald.conf(5).
    package init(settings: String = "RateLimitIntervalSec=0") throws {
        for directory in ["/var/log/journal", runDirectory, configurationDirectory] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        let settings = "[Journal]\nStorage=persistent\n\(settings)\n"
        try Files.write(Array(settings.utf8), to: "\(configurationDirectory)/tests.conf", mode: 0o644)
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = [name]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        let machine = (try? Files.read("/etc/machine-id")).map { String(decoding: $0.prefix(32), as: UTF8.self) } ?? ""
        for path in [runDirectory, configurationDirectory, "/var/log/journal/\(machine).\(name)"] {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// The service's own writer, into this journal.
    package func output(_ ledger: EventLedger, _ progress: DeliveryProgress?, directory: String) throws -> JournalOutput
    {
        guard let progress else { return .off }
        return try .journald(
            ledger,
            progress,
            key: EventText.identityKey,
            directory: directory,
            location: .namespace(name),
            socket: socket
        )
    }

    /// Logs entries, each with a message and other fields, and waits until they stand in the journal.
    package func log(_ messages: [[UInt8]], identifier: String = "app", _ fields: [(JournalField, String)] = []) throws
    {
        let socket = try connected()
        var buffer = JournalEntryBuffer(constant: [(.syslogIdentifier, identifier)] + fields)
        for (index, message) in messages.enumerated() {
            try buffer.append(sequence: UInt64(index)) { $0.append(.message, message) }
            if !buffer.isFull, index < messages.count - 1 { continue }
            while case .wouldBlock = socket.send(buffer.bytes) { _ = socket.waitUntilWritable(milliseconds: 100) }
            buffer.removeAll()
        }
        try synchronize()
    }

    /// Waits until what was logged stands in the journal. A journald that has just started takes entries before it
    /// listens for such requests.
    private func synchronize() throws {
        for _ in 0..<1_000 {
            if (try? journalctl("--sync")) != nil { return }
            _ = poll(nil, 0, 10)
        }
        try journalctl("--sync")
    }

    package func log(_ messages: String..., identifier: String = "app") throws {
        try log(messages.map { Array($0.utf8) }, identifier: identifier)
    }

    private func connected() throws -> JournalSocket {
        for _ in 0..<10_000 {
            if let socket = try? JournalSocket(path: socket) { return socket }
            _ = poll(nil, 0, 1)
        }
        return try JournalSocket(path: socket)
    }

    /// Runs journalctl on the namespace.
    @discardableResult
    package func journalctl(_ arguments: String...) throws -> [UInt8] {
        try Program.run("/usr/bin/journalctl", ["--namespace=\(name)", "-q", "--no-pager"] + arguments)
    }

    /// The entries of the service that match, as `journalctl -o json` prints them.
    package func entries(_ matches: String...) throws -> [[String: Any]] {
        let arguments = ["--namespace=\(name)", "-q", "--no-pager", "--output=json", "-t", "dnp-telemetry"]
        return try Program.run("/usr/bin/journalctl", arguments + matches).split(separator: UInt8(ascii: "\n")).map {
            try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any] ?? [:]
        }
    }
}
