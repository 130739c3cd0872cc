// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TelemetryEvents

/// Each entry must be read as the same message behind a stamp.
@Suite("Entries of the journal with a field on each line")
struct LineHeadersTests {
    private static let execution = "[DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"
    private static let completion = "[DNP-FETCH] Task completed (success=true)"
    private static let cursor = "s=6c1e;i=1a;b=4ef;m=12;t=64;x=9"

    /// An entry of `journalctl -o export`.
    private static func exported(_ message: String, at second: Int) -> String {
        """
        __CURSOR=\(cursor)
        __REALTIME_TIMESTAMP=\(1_763_185_800 + second)123456
        __MONOTONIC_TIMESTAMP=12
        _TRANSPORT=stdout
        \(message)
        _PID=4242
        SYSLOG_IDENTIFIER=App


        """
    }

    /// An entry of `journalctl -o verbose`.
    private static func verbose(_ message: String, at time: String) -> String {
        """
        Sat 2025-11-15 \(time) UTC [\(cursor)]
            _TRANSPORT=stdout
            MESSAGE=\(message)
            _PID=4242

        """
    }

    private func events(_ lines: String...) throws -> [String] {
        try LogReading(lines.joined(separator: "\n") + "\n").events
    }

    @Test("an exported entry has its own time")
    func readsExported() throws {
        let log =
            Self.exported("MESSAGE=\(Self.execution)", at: 0) + Self.exported("MESSAGE=other", at: 1)
            + Self.exported("MESSAGE=\(Self.completion)", at: 3)
        let reading = try LogReading(log)
        #expect(
            reading.events
                == (try events(
                    "2025-11-15T05:50:00.123456Z \(Self.execution)",
                    "2025-11-15T05:50:03.123456Z \(Self.completion)"
                ))
        )
        #expect(reading.lines.recognised == 2 && reading.lines.unrecognised == 0)
    }

    @Test("a message with control characters stands behind its length", arguments: [0x51, 0x20, 0x09, 0x1B])
    func readsBinary(length: UInt8) throws {
        let value = "\(Unicode.Scalar(length))\0\0\0\0\0\0\0\(Self.execution)\nmore of it"
        let log = Self.exported("MESSAGE\n\(value)", at: 0)
        #expect(try LogReading(log).events == (try events("2025-11-15T05:50:00.123456Z \(Self.execution)")))
    }

    @Test("an entry of the verbose format has its own time")
    func readsVerbose() throws {
        let log =
            Self.verbose(Self.execution, at: "05:50:00.123456") + Self.verbose("other", at: "05:50:01")
            + Self.verbose(Self.completion, at: "05:50:03")
        #expect(
            try LogReading(log).events
                == (try events(
                    "2025-11-15T05:50:00.123456Z \(Self.execution)",
                    "2025-11-15T05:50:03Z \(Self.completion)"
                ))
        )
    }

    @Test("what stands behind an entry is read as if it stood alone")
    func ends() throws {
        let line = "2025-11-15T05:50:03Z \(Self.completion)"
        let read = try events("2025-11-15T05:50:00.123456Z \(Self.execution)", line)
        let entry = Self.exported("MESSAGE=\(Self.execution)", at: 0)
        #expect(try LogReading(entry + line + "\n").events == read)
        #expect(try LogReading(entry.dropLast() + line + "\n").events == read)
        #expect(try LogReading(Self.verbose(Self.execution, at: "05:50:00.123456") + line + "\n").events == read)
    }

    @Test("an event in such an entry may be the service's own, and is foreign")
    func leavesEvents() throws {
        let event = #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:50:00Z"}"#
        let reading = try LogReading(Self.exported("MESSAGE=\(event)", at: 0) + Self.verbose(event, at: "05:50:00"))
        #expect(reading.events == [] && reading.rejections == [])
        let line = #"{"event": "\#(Self.execution)", "timestamp": "2025-11-15T05:50:00Z"}"#
        #expect(
            try LogReading(Self.exported("MESSAGE=\(line)", at: 0)).events
                == (try events("2025-11-15T05:50:00Z \(Self.execution)"))
        )
    }

    @Test(
        "a field that only looks like the time of an entry is none",
        arguments: ["__REALTIME_TIMESTAMP=", "__REALTIME_TIMESTAMP=x", "__CURSOR=1", "_", "__REALTIME_TIMESTAMP"]
    )
    func refusesTimes(field: String) throws {
        let reading = try LogReading("\(field)\nMESSAGE=\(Self.execution)\n")
        #expect(reading.events == [])
    }
}
