// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport
import Testing

@testable import CollectorClient
@testable import LogInput

@Suite("A log that is decoded before it is sent")
struct DecodedLogTests {
    private static let now = CutInput.moment(.zero).wall

    private func events(_ log: String, isLive: Bool = false) throws -> [[String: Any]] {
        var decoded = DecodedLog(try LineFormat(timezone: "UTC"), isLive: isLive, lineOffset: 0)
        let first = try decoded.decode(Array(log.utf8), readAt: Self.now)
        let last = try decoded.flush(readAt: Self.now)
        return try (first.events + last.events).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
    }

    @Test("tells devices by their own names, which the collector replaces as in any other log")
    func devices() throws {
        let log = """
            <14>1 2025-11-15T05:48:00Z phone-\"7\" App 12 - - [DNP-FETCH] Fetch success: id=a fetchDurationMs=10
            <14>1 2025-11-15T05:49:00Z pixel-8 App 12 - - [DNP-FETCH] Fetch success: id=b fetchDurationMs=10

            """
        let names = try events(log).map { $0["installationId"] as? String }
        #expect(names == ["phone-\"7\"", "pixel-8"])
    }

    @Test("tells schedules by their own ids also where the collector has to replace them")
    func schedules() throws {
        let log = """
            2025-11-15T05:48:00Z [DNP-FETCH] Fetch success: id=someone@example.org fetchDurationMs=10
            2025-11-15T05:48:00Z [DNP-FETCH] Fetch success: id=redacted-h0123456789abcdef fetchDurationMs=10

            """
        let ids = try events(log).map { $0["scheduleId"] as? String }
        #expect(ids == ["someone@example.org", "redacted-h0123456789abcdef"])
    }

    @Test("says the same each time it is decoded")
    func deterministic() throws {
        let path = Sample.logs + "/happy-logcat-threadtime.log"
        let log = try String(contentsOfFile: path, encoding: .utf8)
        var bodies: Set<[[UInt8]]> = []
        for _ in 0..<3 {
            var decoded = DecodedLog(try LineFormat(timezone: "UTC"), isLive: false, lineOffset: 0)
            bodies.insert(
                try decoded.decode(Array(log.utf8), readAt: Self.now).events + decoded.flush(readAt: Self.now).events
            )
        }
        #expect(bodies.count == 1 && bodies.first?.isEmpty == false)
    }

    @Test("is refused where its lines have no time, with the line")
    func untimed() throws {
        let log = "[DNP-FETCH] Fetch success: id=a fetchDurationMs=10\n"
        let error = #expect(throws: InputError.self) { try events("unrelated\n" + log) }
        #expect(error?.input == "line 2")
        #expect(try events(log, isLive: true).count == 1)
    }

    @Test("names what it cannot tell by the line")
    func refused() throws {
        var decoded = DecodedLog(try LineFormat(timezone: "UTC"), isLive: false, lineOffset: 10)
        let lines = try decoded.decode(
            Array("x\n2019-11-15T05:48:00Z [DNP-FETCH] Fetch success: id=a\n".utf8),
            readAt: Self.now
        )
        #expect(lines.rejected.map(\.place) == ["line 12"])
        #expect(lines.rejectedTotal == 1)
    }

    @Test("forgets the names that were not used for longest, and only these")
    func names() {
        let names = RawNames()
        let first = names.pseudonym(of: Array("kept".utf8).span)
        for number in 0..<RawNames.most {
            _ = names.pseudonym(of: Array("other-\(number)".utf8).span)
            #expect(number % 1_000 != 0 || names.name(first.high) == Array("kept".utf8))
        }
        #expect(names.name(first.high) == Array("kept".utf8))
        #expect(names.name(first.high &+ 1) == nil)
    }

    private enum Sample {
        static let logs = URL.repository.appendingPathComponent("Tests/IntegrationTests/Fixtures/logs").path
    }
}
