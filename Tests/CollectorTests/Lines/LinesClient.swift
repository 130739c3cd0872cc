// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import TestSupport
import Testing

extension LinesClient {
    /// Sends all, as the service takes it, and takes in its answers meanwhile.
    func send(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) async {
        var rest = bytes[...]
        await waitUntil("all is sent", sourceLocation: sourceLocation) {
            receive()
            while !rest.isEmpty {
                let count = offer(rest)
                if count == 0 { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    func send(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        await send(Array(text.utf8), sourceLocation: sourceLocation)
    }

    func expectDurable(_ lines: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        await waitUntil("\(lines) lines are durable", sourceLocation: sourceLocation) {
            receive()
            return durable >= lines
        }
        #expect(durable == lines, sourceLocation: sourceLocation)
    }

    /// Waits until the service has closed the connection.
    func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) async {
        await waitUntil("the connection is closed", sourceLocation: sourceLocation) { !receive() }
    }
}
