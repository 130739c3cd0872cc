// SPDX-License-Identifier: Apache-2.0

/// `{"eventMessage":"message","subsystem":"...","category":"fetch","timestamp":"...","processID":4242}`
enum AppleNDJSONLine {
    /// Takes an object whose texts have no escapes.
    static func take(
        _ object: LogObject,
        _ bytes: Span<UInt8>,
        stamps: inout LogStampReader,
        into line: inout UnwrappedLine
    ) {
        guard let message = object.eventMessage else { return }
        if let timestamp = object.timestamp {
            var cursor = LineCursor(timestamp)
            line.stamp = stamps.dateAndTime(bytes, &cursor)
        }
        if let process = object.processID {
            var cursor = LineCursor(process)
            line.process = cursor.digits(bytes) ?? 0
        }
        if let subsystem = object.subsystem, let category = object.category {
            line.component = AppleSubsystem.component(bytes, subsystem: subsystem, category: category)
        }
        line.takeMessage(bytes, LineCursor(bytes.trimmedLine(message)))
    }
}
