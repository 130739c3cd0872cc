// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@Suite("How long a source waits for the ledger")
struct SourcePauseTests {
    @Test(
        "a second at most, whatever clients are asked for",
        arguments: [
            (.overloaded(retryAfter: .milliseconds(20)), .milliseconds(20)),
            (.overloaded(retryAfter: .seconds(60)), .seconds(1)),
            (.slow(retryAfter: .seconds(60)), .seconds(1)),
            (.failed(.full(detail: "")), .seconds(1)),
            (.stopped, nil),
        ] as [(SubmissionError, Duration?)]
    )
    func pause(error: SubmissionError, expected: Duration?) {
        #expect(error.pauseOfSources == expected)
    }
}
