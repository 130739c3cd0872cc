// SPDX-License-Identifier: Apache-2.0

/// `{"MESSAGE":"message","__REALTIME_TIMESTAMP":"1763185680000000","_PID":"4242","_HOSTNAME":"host"}`
enum JournalJSONLine {
    /// Takes an object whose texts have no escapes. An event in the message is one of our own entries.
    static func take(_ object: LogObject, _ bytes: Span<UInt8>, into line: inout UnwrappedLine) {
        guard let message = object.message else { return }
        if let time = object.sourceRealtime ?? object.realtime {
            var cursor = LineCursor(time)
            if let microseconds = cursor.digits(bytes) {
                line.stamp = LogStamp(wallMicroseconds: Int64(microseconds), offsetSeconds: 0)
            }
        }
        if let process = object.process ?? object.syslogProcess {
            var cursor = LineCursor(process)
            line.process = cursor.digits(bytes) ?? 0
        }
        line.device = object.hostname ?? 0..<0
        let cursor = LineCursor(bytes.trimmedLine(message))
        if cursor.peek(bytes) == UInt8(ascii: "{"), let event = LogObject(bytes, cursor.rest), event.isEvent {
            line.isEvent = true
            line.text = cursor.rest
        } else {
            line.takeMessage(bytes, cursor)
        }
    }
}
