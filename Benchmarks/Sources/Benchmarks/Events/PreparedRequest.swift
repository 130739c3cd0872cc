// SPDX-License-Identifier: Apache-2.0

/// An HTTP request as it goes over the wire, with the place of its body.
struct PreparedRequest: Sendable {
    let bytes: [UInt8]
    let body: Range<Int>
    let events: Int

    init(body: [UInt8], events: Int) {
        let head = """
            POST /v1/events HTTP/1.1\r
            Host: localhost\r
            Content-Type: application/x-ndjson\r
            Content-Length: \(body.count)\r
            \r

            """
        bytes = Array(head.utf8) + body
        self.body = head.utf8.count..<bytes.count
        self.events = events
    }

    /// A request for a path.
    init(get path: String, headers: [String] = []) {
        let lines = ["GET \(path) HTTP/1.1", "Host: localhost"] + headers
        bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        body = bytes.count..<bytes.count
        events = 0
    }

    /// The body's lines.
    var lines: [ArraySlice<UInt8>] {
        bytes[body].split(separator: UInt8(ascii: "\n"))
    }
}
