// SPDX-License-Identifier: Apache-2.0

extension LineUnwrapper {
    /// A line that is a JSON object: of Apple's log, of the journal, or an event.
    mutating func takeObject(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        guard var object = LogObject(bytes, range) else { return }
        if object.isEvent {
            guard wrapper == nil || wrapper == .events else { return }
            line.isEvent = true
            line.text = range
        } else if object.isEscaped || object.hasMessageBytes {
            object.unescape(bytes, into: &scratch)
            line.isInScratch = true
            take(object, scratch.span, into: &line)
        } else {
            take(object, bytes, into: &line)
        }
    }

    private mutating func take(_ object: LogObject, _ bytes: Span<UInt8>, into line: inout UnwrappedLine) {
        if object.eventMessage != nil, wrapper == nil || wrapper == .appleNDJSON {
            AppleNDJSONLine.take(object, bytes, stamps: &stamps, into: &line)
        } else if object.message != nil, wrapper == nil || wrapper == .journalJSON {
            JournalJSONLine.take(object, bytes, into: &line)
        }
    }
}
