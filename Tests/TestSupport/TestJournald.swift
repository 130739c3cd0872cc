// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc

/// A real systemd-journald, started in a mount namespace of its own.
package actor TestJournald {
    package nonisolated let namespace: MountNamespace
    private let logs: String
    private var process: ChildProcess?
    private var starts = 0

    private static let executable = "/lib/systemd/systemd-journald"
    private static let configuration = """
        [Journal]
        Storage=persistent
        SystemMaxUse=2G
        Audit=no
        RateLimitIntervalSec=1s
        RateLimitBurst=100000000

        """

    private init(namespace: MountNamespace, logs: String) {
        self.namespace = namespace
        self.logs = logs
    }

    /// A journald that runs while the body does, unless `running` says that the body will start it.
    package static func with<Value>(running: Bool = true, _ body: (TestJournald) async throws -> Value) async throws
        -> Value
    {
        try MissingDependency.require(executable: executable, package: "systemd")
        try MissingDependency.require(executable: "/usr/bin/journalctl", package: "systemd")
        return try await MountNamespace.with { namespace in
            try await withTemporaryDirectory { directory in
                let settings = namespace.outside("/run/systemd/journald.conf.d/integration.conf")
                try Data(configuration.utf8).write(to: URL(fileURLWithPath: settings))
                let journal = TestJournald(namespace: namespace, logs: directory)
                if running { try await journal.start() }
                return try await body(journal)
            }
        }
    }

    package func start() async throws {
        // journald writes to /run until this file says that /var is mounted.
        try Data().write(to: URL(fileURLWithPath: namespace.outside("/run/systemd/journal/flushed")))
        starts += 1
        process = try ChildProcess(namespace.entering([Self.executable]), logs: logs, name: "journald-\(starts)")
        try await eventually("journald answers") { try await synchronise() }
    }

    /// Terminates journald and waits for its end.
    package func stop() async throws {
        await process?.signal(SIGTERM)
        try await process?.waitForExit()
    }

    package func kill() async {
        await process?.killAndWait()
    }

    package func suspend() async {
        await process?.signal(SIGSTOP)
    }

    package func resume() async {
        await process?.signal(SIGCONT)
    }

    /// Makes journald start new files.
    package func rotate() async throws {
        let rotation = try await namespace.run(["/usr/bin/journalctl", "--rotate"])
        guard rotation.status == .code(0) else { throw Unreadable(description: rotation.error) }
    }

    /// Deletes all files but the active one.
    package func vacuum() async throws {
        let vacuum = try await namespace.run(["/usr/bin/journalctl", "--vacuum-files=1"])
        guard vacuum.status == .code(0) else { throw Unreadable(description: vacuum.error) }
    }

    /// True when journald has answered that all it has received is written.
    private func synchronise() async throws -> Bool {
        try await namespace.run(["/usr/bin/journalctl", "--sync"], within: .seconds(30)).status == .code(0)
    }

    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The entries of one identifier, oldest first; all of their fields, or those that are named.
    ///
    /// - Parameter matches: more of what `journalctl` selects by, such as `DNP_EVENT=cycle_closed`.
    package func entries(fields: [String] = [], matching matches: [String] = []) async throws -> [JournalEntry] {
        try await eventually("journald has written what it received") { try await synchronise() }
        var command = ["/usr/bin/journalctl", "--quiet", "--all", "--output=json", "--no-pager"]
        if !fields.isEmpty { command.append("--output-fields=\(fields.joined(separator: ","))") }
        let listing = try await namespace.run(command + ["SYSLOG_IDENTIFIER=dnp-telemetry"] + matches)
        guard listing.status == .code(0) else { throw Unreadable(description: listing.error) }
        return try listing.output.split(separator: UInt8(ascii: "\n")).map { try JournalEntry(json: Data($0)) }
    }
}

/// One entry as `journalctl -o json` prints it.
package struct JournalEntry: Sendable {
    package let fields: [String: String]
    /// Fields that the entry has more than once.
    package let repeated: Set<String>

    package init(json: Data) throws {
        guard let object = try JSONSerialization.jsonObject(with: json) as? [String: Any] else {
            throw TestJournald.Unreadable(description: "not a JSON object: \(String(decoding: json, as: UTF8.self))")
        }
        var fields: [String: String] = [:]
        var repeated: Set<String> = []
        for (name, value) in object {
            switch value {
            case let text as String: fields[name] = text
            case let values as [String]:
                fields[name] = values.joined(separator: "\n")
                repeated.insert(name)
            case let bytes as [NSNumber]: fields[name] = String(decoding: bytes.map(\.uint8Value), as: UTF8.self)
            default: fields[name] = ""
            }
        }
        self.fields = fields
        self.repeated = repeated
    }

    package subscript(name: String) -> String? { fields[name] }

    /// `MESSAGE` as JSON.
    package func message() throws -> [String: Any] {
        let text = fields["MESSAGE"] ?? ""
        guard let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw TestJournald.Unreadable(description: "MESSAGE is not a JSON object: \(text)")
        }
        return object
    }
}
