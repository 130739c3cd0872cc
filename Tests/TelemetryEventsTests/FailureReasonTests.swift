// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Failure reasons")
struct FailureReasonTests {
    @Test(
        "come from the reason given, else the status, else the error",
        arguments: [
            (#""reason":"NETWORK","status":401"#, "NETWORK"), (#""reason":"auth""#, "AUTH"),
            (#""reason":"weird","status":403"#, "AUTH"), (#""status":0"#, "NETWORK"), (#""status":408"#, "NETWORK"),
            (#""status":429"#, "NETWORK"), (#""status":503"#, "NETWORK"), (#""status":401"#, "AUTH"),
            (#""error":"NetworkError""#, "NETWORK"), (#""error":"AuthError""#, "AUTH"),
            (#""error":"Error Domain=NSURLErrorDomain Code=-1001""#, "NETWORK"),
            (#""error":"Error Domain=BGTaskSchedulerErrorDomain Code=1""#, "SYSTEM"),
            (#""error":"notPermitted""#, "SYSTEM"),
            (#""error":"Storage unavailable""#, "SYSTEM"), (#""error":"JWT expired""#, "AUTH"),
            (#""reason":"JWT expired""#, "AUTH"), (#""reason":"because","error":"NetworkError""#, "NETWORK"),
            (#""error":"Task expired""#, "SYSTEM"), (#""reason":"weird""#, "OTHER"), (#""error":"gremlins""#, "OTHER"),
        ]
    )
    func derived(members: String, expected: String) throws {
        let line = #"{"event":"prefetch_failure","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z",\#(members)}"#
        let lines = try canonical(decode(line))
        #expect(lines.count == 1)
        #expect(lines[0].contains(#""reason":"\#(expected)""#))
    }

    @Test("stay open while nothing tells them")
    func unknown() throws {
        let line = #"{"event":"prefetch_failure","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#
        #expect(try canonical(decode(line)) == [line])
    }
}
