// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@Suite("Lines of JSON, plain and not")
struct PlainLinesTests {
    private let plain = event(with: #""ttl":1"#)

    @Test("an unknown field counts once, whatever follows the event on its line")
    func unknownFields() {
        let unknown = event(with: #""x":[1,{"y":2}]"#)
        for line in [unknown, unknown + "\r", unknown + " 1", unknown + "}", unknown + "  \(plain)"] {
            let decoded = decode(line + "\n" + plain, as: .lines)
            #expect(decoded.unknownFields == 1, "\(line)")
        }
        #expect(decode("\(unknown)\(unknown)\n", as: .lines).unknownFields == 2)
        #expect(decode("[\(unknown),\(unknown.dropLast())]", as: .document).unknownFields == 2)
    }

    @Test(
        "an event never reaches over its line's end",
        arguments: [
            #""ttl":"# + "\n1", "\n" + #""ttl":1"#, #""ttl""# + "\n:1", #""x":[1,"# + "\n2]", #""error":"a"# + "\n\"",
            #""telemetry":{"# + "\n}",
        ]
    )
    func lineFeedInside(_ member: String) {
        let decoded = decode(plain + "\n" + event(with: member) + "\n" + plain + "\n", as: .lines)
        #expect(decoded.events.count == 2)
        #expect(decoded.rejections.first?.reason == .truncated)
        #expect(decode(event(with: member)).events.count == (member.contains("error") ? 0 : 1))
    }

    @Test("white space counts to the length of a line")
    func longLine() {
        let spaces = String(repeating: " ", count: JSONLimits.eventBytes - plain.utf8.count)
        #expect(decode(plain + spaces + "\n" + plain, as: .lines).events.count == 2)
        let decoded = decode(plain + spaces + " \n" + plain, as: .lines)
        #expect(decoded.events.count == 1)
        #expect(decoded.rejections.map(\.reason) == [.tooLong])
        #expect(decode("  " + plain + spaces, as: .lines).events.count == 1)
    }

    @Test("a text that has to change takes nothing away from those before and behind it")
    func changedTexts() throws {
        let members = [
            #""eventId":"one","contentHash":"ABC","appVersion":"1.2""#,
            #""eventId":"o\u006ee","contentHash":"abc","appVersion":"1.2""#,
            #""appVersion":"1.2","contentHash":"aBc","eventId":"one""#,
        ]
        let lines = try members.map { try canonical(decode(event(with: $0), as: .lines)) }
        #expect(lines[0].first?.contains(#""contentHash":"abc","eventId":"one","appVersion":"1.2""#) == true)
        #expect(lines[1] == lines[0])
        #expect(lines[2] == lines[0])
    }

    @Test("each time is read by its own date, whichever was read before")
    func dates() throws {
        let dates = ["2025-11-15", "2025-11-15", "2025-11-14", "2024-02-29", "2025-11-15", "2025-11-35", "2025-11-15"]
        let lines = dates.map { event(with: #""timestamp":"\#($0)T23:59:59.5Z","scheduledFor":"\#($0)t00:00:00z""#) }
        let decoded = decode(lines.joined(separator: "\n"), as: .lines)
        #expect(decoded.rejections.map(\.index) == [5])
        let times = try canonical(decoded).map { $0.dropFirst(#"{"event":"prefetch_success","scheduleId":"a","#.count) }
        for (time, date) in zip(times, dates[..<5] + dates[6...]) {
            #expect(
                time == #""timestamp":"\#(date)T23:59:59.500000Z","scheduledFor":"\#(date)T00:00:00Z"}"#
            )
        }
    }

    @Test("every installation keeps its own pseudonym, however many there are and however alike")
    func manyInstallations() throws {
        let ids = (0..<3_000).map { index in
            switch index % 3 {
            case 0: "8f14e45f-ceea-467f-a0d3-\(1_000_000_000_00 + index)"
            case 1: "same-head-\(index)-same-tail"
            default: "\(index)"
            }
        }
        let again = ids + ids.reversed() + ids.flatMap { [$0, $0] }
        let lines = again.map { event(with: #""installationId":"\#($0)""#) }.joined(separator: "\n")
        let decoded = decode(lines, as: .lines)
        let bytes = decoded.events.bytes
        var cursor = EventCursor()
        for id in again {
            let event = try #require(try cursor.next(in: bytes.span))
            let expected = PlainPseudonyms().pseudonym(of: Array(id.utf8).span)
            #expect(event.installation == expected, "\(id)")
        }
    }
}
