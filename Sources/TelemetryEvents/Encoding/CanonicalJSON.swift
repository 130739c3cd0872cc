// SPDX-License-Identifier: Apache-2.0

/// The canonical JSON form of an event: one line, fields in a fixed order under their canonical names, times in UTC,
/// absent fields omitted. Whether a time is assumed is not written.
public enum CanonicalJSON {
    /// Appends an event. O(bytes), without allocation beyond the output's growth.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public static func append(_ event: Event, in bytes: Span<UInt8>, to output: inout [UInt8]) {
        output.append(#"{"event":""#)
        output.append(event.kind.name)
        output.append(UInt8(ascii: "\""))
        text(#","scheduleId":""#, event.scheduleId, bytes, &output)
        time(#","timestamp":""#, event.timestamp, &output)
        if event.kind.app == .aiq {
            refreshProperties(event, to: &output)
            text(#","error":""#, event.error, bytes, &output)
        } else {
            prefetchFields(event, bytes, &output)
        }
        conditions(event, &output)
        number(#","minutes":"#, event.minutes, &output)
        if let installation = event.installation {
            output.append(#","installation":""#)
            installation.appendHex(to: &output)
            output.append(UInt8(ascii: "\""))
        }
        text(#","eventId":""#, event.eventId, bytes, &output)
        text(#","platform":""#, event.platform, bytes, &output)
        text(#","appVersion":""#, event.appVersion, bytes, &output)
        text(#","osVersion":""#, event.osVersion, bytes, &output)
        text(#","deviceModel":""#, event.deviceModel, bytes, &output)
        output.append(UInt8(ascii: "}"))
    }

    private static func prefetchFields(_ event: Event, _ bytes: Span<UInt8>, _ output: inout [UInt8]) {
        time(#","scheduledFor":""#, event.scheduledFor, &output)
        time(#","earliestBeginDate":""#, event.earliestBeginDate, &output)
        number(#","duration_ms":"#, event.duration, unit: 1_000, &output)
        number(#","ttl":"#, event.ttl, &output)
        number(#","status":"#, event.status, &output)
        number(#","bytes":"#, event.byteCount, &output)
        number(#","items":"#, event.itemCount, &output)
        if let reason = event.reason {
            output.append(#","reason":""#)
            output.append(reason.name)
            output.append(UInt8(ascii: "\""))
        }
        text(#","error":""#, event.error, bytes, &output)
        boolean(#","willRetry":"#, event.willRetry, &output)
        boolean(#","fetched":"#, event.fetched, &output)
        boolean(#","usedCached":"#, event.usedCached, &output)
        number(#","age":"#, event.age, unit: 1_000_000, &output)
        text(#","contentHash":""#, event.contentHash, bytes, &output)
        text(#","scheduleHash":""#, event.scheduleHash, bytes, &output)
        clientCounters(event, bytes, &output)
        plan(event, bytes, &output)
    }

    private static func text(
        _ name: StaticString,
        _ text: Event.Text,
        _ bytes: Span<UInt8>,
        _ output: inout [UInt8]
    ) {
        guard !text.isEmpty else { return }
        output.append(name)
        output.appendEscaped(bytes, text)
        output.append(UInt8(ascii: "\""))
    }

    private static func time(_ name: StaticString, _ time: Timestamp?, _ output: inout [UInt8]) {
        guard let time else { return }
        output.append(name)
        time.appendRFC3339(to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private static func number(_ name: StaticString, _ value: Int64?, unit: Int64 = 1, _ output: inout [UInt8]) {
        guard let value else { return }
        output.append(name)
        output.appendScaled(value, unit: unit)
    }

    private static func boolean(_ name: StaticString, _ value: Bool?, _ output: inout [UInt8]) {
        guard let value else { return }
        output.append(name)
        output.append(value ? "true" : "false")
    }

    private static func conditions(_ event: Event, _ output: inout [UInt8]) {
        guard event.presence.contains(.conditions) else { return }
        boolean(#","lowPowerMode":"#, event.lowPowerMode, &output)
        boolean(#","pluggedIn":"#, event.pluggedIn, &output)
        boolean(#","backgroundRefresh":"#, event.backgroundRefresh, &output)
        boolean(#","simulator":"#, event.isSimulator, &output)
        if let network = event.network {
            output.append(#","network":""#)
            output.append(network.name)
            output.append(UInt8(ascii: "\""))
        }
        boolean(#","hasPendingSchedules":"#, event.hasPendingSchedules, &output)
        boolean(#","inProgress":"#, event.inProgress, &output)
        boolean(#","conditional":"#, event.isConditional, &output)
        boolean(#","authenticated":"#, event.isAuthenticated, &output)
    }

    /// The rolling window and the planned schedules.
    private static func plan(_ event: Event, _ bytes: Span<UInt8>, _ output: inout [UInt8]) {
        guard !event.clientCounters.isEmpty else { return }
        if let window = event.rollingWindow(in: bytes) {
            number(#","pending":"#, window.pending, &output)
            number(#","limit":"#, window.limit, &output)
            number(#","today":"#, window.today, &output)
            number(#","tomorrow":"#, window.tomorrow, &output)
        }
        var isFirst = true
        event.forEachPlannedSchedule(in: bytes) { schedule in
            output.append(isFirst ? #","schedules":[{"# : ",{")
            isFirst = false
            let start = output.count
            text(#","scheduleId":""#, schedule.scheduleId, bytes, &output)
            time(#","scheduledFor":""#, schedule.scheduledFor, &output)
            time(#","earliestBeginDate":""#, schedule.earliestBeginDate, &output)
            number(#","leadMinutes":"#, schedule.leadMinutes, &output)
            text(#","scheduleHash":""#, schedule.scheduleHash, bytes, &output)
            if output.count > start { output.remove(at: start) }
            output.append(UInt8(ascii: "}"))
        }
        if !isFirst { output.append(UInt8(ascii: "]")) }
    }

    private static func clientCounters(_ event: Event, _ bytes: Span<UInt8>, _ output: inout [UInt8]) {
        guard !event.clientCounters.isEmpty else { return }
        var isFirst = true
        try? event.forEachClientCounter(in: bytes) { counter, value in
            output.append(isFirst ? #","telemetry":{"# : ",")
            isFirst = false
            output.append(UInt8(ascii: "\""))
            let name = counter.name.bytes
            output.appendEscaped(name.span, 0..<name.count)
            output.append("\":")
            output.appendDecimal(value)
        }
        if !isFirst { output.append(UInt8(ascii: "}")) }
    }
}

extension [UInt8] {
    /// Appends text as the contents of a JSON string, escaping quotes, backslashes and control characters (RFC 8259,
    /// section 7).
    fileprivate mutating func appendEscaped(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        for index in range {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""): append(#"\""#)
            case UInt8(ascii: "\\"): append(#"\\"#)
            case 0x0A: append(#"\n"#)
            case 0x0D: append(#"\r"#)
            case 0x09: append(#"\t"#)
            case 0..<0x20:
                append(byte < 0x10 ? #"\u000"# : #"\u001"#)
                let digit = byte & 0xF
                append(digit < 10 ? 0x30 + digit : 0x57 + digit)
            default: append(byte)
            }
        }
    }
}
