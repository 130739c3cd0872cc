// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CollectorClient
@testable import LogInput

@Suite("A header that is sent along")
struct SendHeaderTests {
    private func problem(_ texts: [String]) -> String? {
        do throws(InvalidOption) {
            _ = try SendHeader.all(texts)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("is a name and a value")
    func good() throws {
        let headers = try SendHeader.all(["X-Installation: 0123456789abcdef", "x:y: z"])
        #expect(headers.map(\.name) == ["X-Installation", "x"])
        #expect(headers.map(\.value) == ["0123456789abcdef", "y: z"])
    }

    @Test(
        "is refused when it could end a line, holds a secret, or is one of our own",
        arguments: [
            "", "X-Installation", ": a", "a b: c", "a: b\r\nc: d", "a: \u{0}", "Authorization: Bearer x",
            "content-LENGTH: 1", "Idempotency-Key: k", "a: " + String(repeating: "b", count: 1_024),
        ]
    )
    func bad(text: String) {
        #expect(problem([text]) != nil)
    }

    @Test("may come 16 times")
    func count() {
        #expect(problem((0..<16).map { "a\($0): b" }) == nil)
        #expect(problem((0..<17).map { "a\($0): b" }) == "expected at most 16 headers, found 17")
    }
}
