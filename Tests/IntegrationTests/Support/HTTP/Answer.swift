// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One HTTP response.
struct Answer: Sendable {
    let status: Int
    /// By lower-case name.
    let headers: [String: String]
    let body: [UInt8]

    struct Unexpected: Error, CustomStringConvertible {
        let answer: Answer
        var description: String { "HTTP \(answer.status): \(answer.text.prefix(500))" }

        init(_ answer: Answer) { self.answer = answer }
    }

    /// An event that was refused.
    struct Rejection: Decodable, Equatable {
        let index: Int
        let reason: String
    }

    /// The body of a 200 from `/v1/events`.
    struct Receipt: Decodable, Equatable {
        let accepted: Int
        let duplicates: Int
        let rejected: [Rejection]
    }

    /// RFC 9457, with the refused events where there are any.
    struct Problem: Decodable {
        let type: String
        let title: String
        let status: Int
        let detail: String
        let rejected: [Rejection]?
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    func receipt() throws -> Receipt {
        guard status == 200 else { throw Unexpected(self) }
        return try JSONDecoder().decode(Receipt.self, from: Data(body))
    }

    func problem() throws -> Problem {
        guard headers["content-type"]?.hasPrefix("application/problem+json") == true else { throw Unexpected(self) }
        return try JSONDecoder().decode(Problem.self, from: Data(body))
    }
}
