// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

@Suite("JSON events among log lines")
struct LogEventLinesTests {
    private let event = #"{"event":"prefetch_executed","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#

    @Test("a line is unrecognised when an event on it is refused, whatever its neighbours hold")
    func countsLines() throws {
        let reading = try LogReading(
            """
            {"events":[{"event":"x"},{"event":"y"},{"event":"z"}]}
            \(event)
            \(event) \(event)
            {"event":"prefetch_su

            """,
            LogDecoderOptions(wrapper: .events)
        )
        #expect(reading.events.count == 3)
        #expect(reading.rejections.count == 4)
        #expect(reading.lines.recognised == 2)
        #expect(reading.lines.unrecognised == 2)
    }

    @Test("byte order marks and control characters in front of an event change nothing")
    func isTrimmed() throws {
        let reading = try LogReading("\(event)\n\u{1}\(event)\n\u{FEFF}\(event)\r\n \0\(event)\n")
        #expect(reading.events.count == 4)
        #expect(reading.lines.recognised == 4)
    }
}
