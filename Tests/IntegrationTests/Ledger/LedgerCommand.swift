// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Command {
    /// Runs `dnp-telemetry ledger` on the state directory of a service, in its namespace.
    static func ledger(_ service: Service, _ arguments: String...) async throws -> Command {
        let settings = await service.settings
        let command = try [Service.binary(), "ledger"] + arguments + ["--state-dir", settings.stateDirectory]
        return try await run(settings.namespace?.entering(command) ?? command)
    }

    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// The lines of a dump without the ticks of the service's own.
    var postedLines: [String] { lines.filter { $0.contains(#""source":"http""#) } }
}

/// What `ledger verify --format json` prints.
struct VerifyOutput: Decodable {
    struct Check: Decodable {
        let check: String
        let result: String
        let detail: String
        let figures: [String: UInt64]
        let findings: [String]
    }

    let verdict: String
    let ledger: String
    let checks: [Check]

    init(_ command: Command) throws {
        self = try JSONDecoder().decode(Self.self, from: command.output)
    }

    subscript(_ name: String) -> Check? { checks.first { $0.check == name } }

    /// The names of the checks that failed.
    var failed: [String] { checks.filter { $0.result == "failed" }.map(\.check) }
}

/// A file of a stopped service's state directory.
enum StateFile {
    /// Changes the first byte of every place where a pattern stands; of a page there may be older generations.
    static func flip(_ pattern: Data, in state: String) throws {
        let path = "\(state)/ledger.sqlite"
        var bytes = contents(of: path)
        guard bytes.range(of: pattern) != nil else { throw NotFound() }
        while let range = bytes.range(of: pattern) { bytes[range.lowerBound] ^= 0x20 }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    struct NotFound: Error {}
}

/// Options under which nothing is deleted from the ledger: there is a journal to wait for, and it never comes.
let withoutJournald = ["--journal-socket", "/nonexistent/journald.socket"]
