// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A sample of a device's log or events, with the expected counters.
struct Sample: Sendable, CustomTestStringConvertible {
    struct Expectation: Decodable, Sendable {
        struct Counters: Decodable, Hashable, Sendable {
            var dnp_prefetch_scheduled_total: Int
            var dnp_prefetch_executed_total: Int
            var dnp_prefetch_success_total: Int
            var dnp_prefetch_failure_total: [String: Int]
            var dnp_prefetch_used_for_notification_total: Int
        }
        let counters: Counters
        let verdict: String
        let outcomes: [String]?
        let violations: [String]?
    }

    let name: String
    let expected: Expectation
    var path: String { Self.directory.appendingPathComponent(name).path }
    var testDescription: String { name }

    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    /// All of them, in the order of their names.
    static let all: [Sample] = {
        guard
            let table = try? Data(contentsOf: directory.appendingPathComponent("expected.json")),
            let expectations = try? JSONDecoder().decode([String: Expectation].self, from: table)
        else { return [] }
        return expectations.sorted { $0.key < $1.key }.map { Sample(name: $0.key, expected: $0.value) }
    }()

    static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
}

/// What `validate --format json` prints.
struct JudgedOutput: Decodable {
    struct Cycle: Decodable {
        struct Violation: Decodable {
            let violation: String
            let bucket: String
            let detail: String
        }
        let file: String?
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
        try await telemetry(arguments, input: input)
    }

    /// Runs the executable under test.
    static func telemetry(_ arguments: [String], input: String? = nil) async throws -> Command {
        try await run([Service.binary()] + arguments, input: input)
    }
}
