// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Lines that are events")
struct PlainEventLinesTests {
    /// Lines of which some are taken without being unwrapped, and some look as if they could be.
    private static let lines: [String] = [
        event(with: #""ttl":60"#),
        event(with: #""ttl":-1"#),
        event(with: #""note":"unknown""#),
        event(with: #""error":"caf\u00e9""#),
        event(with: #""ttl":60"#) + "\r",
        event(with: #""ttl":60"#) + " ",
        event(with: #""ttl":60"#) + event(with: #""ttl":61"#),
        event(with: #""ttl":60"#) + "x",
        #"{"event":"prefetch_nothing","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#,
        #"{"event":"prefetch_success","scheduleId":"a"}"#,
        #"{"event":"[DNP-FETCH] Starting fetch (scheduleId=a)","timestamp":"2025-11-15T05:48:32Z"}"#,
        #"{"event":"dnp"#,
        #"{"event":"#,
        #"{"events":[{"event":"prefetch_started","scheduleId":"b","timestamp":"2025-11-15T05:48:30Z"}]}"#,
        #"{"timestamp":"2025-11-15T05:48:31Z","event":"prefetch_executed","scheduleId":"a"}"#,
        "\u{1B}[1m" + event(with: #""ttl":60"#),
        event(with: "\"error\":\"\u{1B}[1mA\""),
        event(with: #""error":"\#(String(repeating: "a", count: 65_536))""#),
        "2025-11-15T05:48:29Z [DNP-FETCH] BGTask handler invoked (id=dnp.fetch)",
        "[ 11-15 05:48:29.000  4000: 4260 I/DNP-FETCH ]",
        "another program's line",
    ]

    /// Texts of such lines in an order of chance, with runs of plain ones.
    private static func text(_ seed: UInt64) -> [String] {
        var state = seed
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        return (0..<60).flatMap { _ in
            let line = lines[next(3) == 0 ? next(lines.count) : 0]
            return [String](repeating: line, count: next(4) == 0 ? next(40) : 1)
        }
    }

    private static func reading(_ lines: [String]) throws -> (events: [String], lines: LogLineCounts, places: [Int]) {
        var options = LogDecoderOptions()
        options.reportsPlaces = true
        var decoder = logDecoder(options)
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let decoded = decoder.decode(bytes.span, readAt: readingTime)
        let rest = decoder.flush(readAt: readingTime)
        let places = (decoded.places + rest.places).map(\.line)
        return (try canonical(decoded) + canonical(rest), decoder.counts, places)
    }

    @Test("an event at the beginning of its line is the same as behind a space", arguments: 1...20)
    func plainLinesAreEvents(seed: Int) throws {
        let lines = Self.text(UInt64(seed))
        let plain = try Self.reading(lines)
        // A space in front keeps an event from being taken before its line is unwrapped.
        let spaced = try Self.reading(lines.map { $0.hasPrefix("{") ? " " + $0 : $0 })
        #expect(plain.events == spaced.events)
        #expect(plain.lines == spaced.lines)
        #expect(plain.places == spaced.places)
        #expect(plain.events.count > 20)
    }
}
