// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPExchange

@Suite("how long Retry-After asks to wait")
struct RetryAfterTests {
    @Test("seconds and dates are read, a longer pause is shortened, and what is neither asks for nothing")
    func retryAfter() {
        func pause(_ text: String?) -> Duration? {
            // Sun, 06 Nov 1994 08:49:30 GMT
            RetryAfter.duration(text, now: 784_111_770, longest: .seconds(300))
        }
        #expect(pause("7") == .seconds(7))
        #expect(pause(" 0 ") == .zero)
        #expect(pause("301") == .seconds(300))
        #expect(pause("99999999999999999999999") == .seconds(300))
        #expect(pause("Sun, 06 Nov 1994 08:49:37 GMT") == .seconds(7))
        #expect(pause("Sun, 06 Nov 1993 08:49:37 GMT") == .zero)
        #expect(pause("Sun, 06 Nov 2094 08:49:37 GMT") == .seconds(300))
        for text in [nil, "", "-1", "soon", "1.5", "1e3"] { #expect(pause(text) == nil) }
    }
}
