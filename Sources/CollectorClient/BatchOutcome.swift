// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPExchange
internal import TextOutput

/// What a collector's answer means for a batch.
enum BatchOutcome: Equatable, Sendable {
    /// The batch is durable.
    case taken(Receipt)
    /// Retry later.
    case again(String, after: Duration?)
    /// Retry in smaller batches.
    case tooLarge(String)
    /// Final: retrying changes nothing.
    case refused(String)

    struct Receipt: Decodable, Equatable, Sendable {
        struct Rejection: Decodable, Equatable, Sendable {
            var index: Int
            var reason: String
        }
        struct Lines: Decodable, Equatable, Sendable {
            var read: UInt64
            var recognised: UInt64
            var foreign: UInt64
            var unrecognised: UInt64
        }
        var accepted: UInt64
        var duplicates: UInt64
        var rejected: [Rejection]
        var rejectedOmitted: UInt64?
        var lines: Lines?
        var notes: [String]?

        var rejectedTotal: UInt64 { UInt64(rejected.count) + (rejectedOmitted ?? 0) }

        /// The first count that no batch can have, by its name.
        fileprivate var impossibleCount: (name: String, count: UInt64)? {
            let counts = [
                ("accepted", accepted), ("duplicates", duplicates), ("rejectedOmitted", rejectedOmitted ?? 0),
                ("lines.read", lines?.read ?? 0), ("lines.recognised", lines?.recognised ?? 0),
                ("lines.foreign", lines?.foreign ?? 0), ("lines.unrecognised", lines?.unrecognised ?? 0),
            ]
            return counts.first { $0.1 > BatchOutcome.mostEvents }
        }
    }

    /// More than any body holds.
    private static let mostEvents: UInt64 = 1 << 32

    /// Problem details (RFC 9457).
    private struct Problem: Decodable {
        var type: String?
        var title: String?
        var detail: String?
        var rejected: [Receipt.Rejection]?
        var rejectedOmitted: UInt64?
    }

    /// A longer pause that a collector asks for is shortened to this.
    private static let longestPause = Duration.seconds(300)

    init(_ answer: CollectorAnswer, now: Date = Date()) {
        let after = RetryAfter.duration(
            answer.retryAfter,
            now: now.timeIntervalSince1970,
            longest: Self.longestPause
        )
        let problem = Self.problem(answer)
        let words = Self.words(answer)
        switch answer.status {
        case 200: self = Self.receipt(answer)
        case 400:
            guard let problem, let rejected = problem.rejected, !rejected.isEmpty else {
                self = .refused(words)
                return
            }
            self = Self.checked(
                Receipt(accepted: 0, duplicates: 0, rejected: rejected, rejectedOmitted: problem.rejectedOmitted)
            )
        case 413: self = .tooLarge(words)
        case 408, 425, 429, 500...599: self = .again(words, after: after)
        case 300...399: self = .refused("\(words): it points elsewhere, which is not followed; name the address itself")
        case 401: self = .refused("\(words): it wants --token-file, --basic-auth-file or --cert")
        case 404 where problem == nil: self = .refused("\(words): there is no collector at this path")
        default: self = .refused(words)
        }
    }

    private static func receipt(_ answer: CollectorAnswer) -> BatchOutcome {
        guard answer.mediaType == "application/json" else {
            let found = answer.mediaType.isEmpty ? "none" : PlainText.line(String(answer.mediaType.prefix(80)))
            return .refused("its answer is no collector's: expected application/json, found \(found)")
        }
        guard let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(answer.body)) else {
            return .refused(
                "its answer is no collector's: expected accepted, duplicates and rejected, found other JSON"
            )
        }
        return checked(receipt)
    }

    private static func checked(_ receipt: Receipt) -> BatchOutcome {
        guard let (name, count) = receipt.impossibleCount else { return .taken(receipt) }
        return .refused("its answer is no collector's: expected the counts of a batch, found \(name) \(count)")
    }

    private static func problem(_ answer: CollectorAnswer) -> Problem? {
        guard answer.mediaType == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(Problem.self, from: Data(answer.body))
    }

    private static func said(_ answer: CollectorAnswer) -> String? {
        if let problem = problem(answer) { return problem.detail ?? problem.title }
        guard answer.mediaType == "text/plain", let text = String(validating: answer.body.prefix(1_000), as: UTF8.self)
        else { return nil }
        return text.split(whereSeparator: \.isNewline).first.map(String.init)
    }

    /// The status and the collector's explanation, as one clause.
    static func words(_ answer: CollectorAnswer) -> String {
        guard let text = said(answer) else { return "HTTP \(answer.status)" }
        let clause = text.hasSuffix(".") ? text.dropLast() : Substring(text)
        return "HTTP \(answer.status), \(PlainText.line(String(clause.prefix(300))))"
    }
}
