// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Testing

@testable import Collector

@Suite("Answers to those who are not let in")
struct AccessProblemTests {
    @Test("tell how to show who one is (RFC 6750, RFC 7617)")
    func challenges() {
        for (problem, challenge) in [
            (Problem.userNeeded, #"Basic realm="dnp-telemetry", charset="UTF-8""#),
            (.tokenNeeded(isWrong: false), #"Bearer realm="dnp-telemetry""#),
            (.tokenNeeded(isWrong: true), #"Bearer realm="dnp-telemetry", error="invalid_token""#),
        ] {
            #expect(problem.response.status == .unauthorized)
            #expect(problem.response.headers[.wwwAuthenticate] == challenge)
            #expect(problem.response.headers[.retryAfter] == nil)
        }
    }

    @Test(
        "tell when to come again, never too early and each a little differently",
        arguments: [(Duration.milliseconds(1), 1...3), (.milliseconds(2_500), 3...5), (.seconds(100), 101...126)]
    )
    func waits(wait: Duration, expected: ClosedRange<Int>) {
        let drawn = Set((0..<2_000).compactMap { _ in Problem.tooFast("Too fast.", wait: wait).retryAfter })
        #expect(drawn == Set(expected))
        #expect(Problem.tooFast("Too fast.", wait: wait).status == .tooManyRequests)
        #expect((1...3).contains(Problem.tooManyPasswords().retryAfter ?? 0))
    }
}
