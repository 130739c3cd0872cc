// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What `validate --format json` prints.
struct JudgedOutput: Decodable {
    struct Cycle: Decodable {
        struct Violation: Decodable {
            let violation: String
            let bucket: String
            let detail: String
        }
        let scheduleId: String?
        let notificationTime: String?
        let outcome: String
        let stages: [String: String?]
        let failureReason: String?
        let violations: [Violation]
    }
    struct Lines: Decodable, Equatable {
        let read: Int
        let recognised: Int
        let foreign: Int
        let unrecognised: Int
    }

    let verdict: String
    let cycles: [Cycle]
    let counters: Sample.Expectation.Counters
    let lines: Lines

    init(_ command: Command) throws {
        self = try JSONDecoder().decode(Self.self, from: command.output)
    }
}

extension Command {
    /// Runs the executable under test.
    static func telemetry(_ arguments: String..., input: String? = nil) async throws -> Command {
        try await run([Service.binary()] + arguments, input: input)
    }
}
