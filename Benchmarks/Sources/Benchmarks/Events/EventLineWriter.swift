// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// Writes events as lines of JSON.
struct EventLineWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var lines = 0
    private let cyclesInARow: Int
    private let installations: Int

    init(cyclesInARow: Int, installations: Int = 50) {
        self.cyclesInARow = cyclesInARow
        self.installations = installations
    }

    /// Begins an event of a cycle; the cycles go round the installations.
    mutating func begin(_ kind: String, _ cycle: Int, at microseconds: Int64) {
        bytes.append(contentsOf: "{\"event\":\"".utf8)
        bytes.append(contentsOf: kind.utf8)
        bytes.append(contentsOf: "\",\"scheduleId\":\"daily-".utf8)
        bytes.appendDecimal(Int64(10_000_000 + cycle))
        installation(1_000_000_010 + cycle / cyclesInARow % installations)
        time("timestamp", microseconds)
    }

    /// Begins an event of a run.
    mutating func begin(_ kind: String, ofRun run: Int, device: Int, at microseconds: Int64) {
        bytes.append(contentsOf: "{\"event\":\"".utf8)
        bytes.append(contentsOf: kind.utf8)
        bytes.append(contentsOf: "\",\"eventId\":\"run-".utf8)
        bytes.appendDecimal(Int64(10_000_000 + run))
        installation(2_000_000_000 + device)
        time("timestamp", microseconds)
    }

    private mutating func installation(_ number: Int) {
        bytes.append(contentsOf: "\",\"installationId\":\"8f14e45f-ceea-467f-a0d3-00".utf8)
        bytes.appendDecimal(Int64(number))
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the properties of an event.
    mutating func properties(_ members: String) {
        name("properties")
        bytes.append(contentsOf: members.utf8)
    }

    mutating func time(_ field: String, _ microseconds: Int64) {
        name(field)
        bytes.append(UInt8(ascii: "\""))
        Timestamp(microseconds: microseconds).appendRFC3339(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func text(_ field: String, _ value: String) {
        name(field)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: value.utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func number(_ field: String, _ value: Int) {
        name(field)
        bytes.appendDecimal(Int64(value))
    }

    mutating func end() {
        bytes.append(contentsOf: "}\n".utf8)
        lines += 1
    }

    private mutating func name(_ field: String) {
        bytes.append(contentsOf: ",\"".utf8)
        bytes.append(contentsOf: field.utf8)
        bytes.append(contentsOf: "\":".utf8)
    }
}
