// SPDX-License-Identifier: Apache-2.0

/// Events as nearly all are written: an object of known fields with nothing wrong. Anything else is left to the general
/// reader, which begins at the same place again, so that only it has to tell faults, envelopes and lines apart.
extension JSONEventDecoder {
    /// Reads a line that holds one event and nothing else, without looking for its end first.
    ///
    /// - Returns: whether that is what it holds; nothing has been taken otherwise.
    mutating func plainLine(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        let unknownFields = decoded.unknownFields
        let start = scanner.position
        var line = scanner
        line.stopsAtLineFeed = true
        clockSkew = nil
        var draft = emptyDraft
        do throws(JSONFault) {
            try plainObject(into: &draft, &line, bytes)
            let end = line.position
            if let next = line.peek(bytes), next != UInt8(ascii: "\n") { throw JSONFault(.malformedJSON) }
            guard line.position &- start <= JSONLimits.eventBytes else { throw JSONFault(.tooLong) }
            try accept(draft, from: start, to: end, bytes)
        } catch {
            decoded.unknownFields = unknownFields
            return false
        }
        decoded.isBlank = false
        scanner.position = line.position
        return true
    }

    /// Reads an element of an array that is an event; the position is at its brace.
    mutating func plainElement(
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) -> Bool {
        let unknownFields = decoded.unknownFields
        var element = scanner
        do throws(JSONFault) {
            try plainObject(into: &draft, &element, bytes)
        } catch {
            decoded.unknownFields = unknownFields
            return false
        }
        scanner = element
        return true
    }

    /// Reads an object that is an event; any fault may mean that it is something else, or has another fault.
    @inline(__always)
    private mutating func plainObject(
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        beginTexts()
        scanner.position &+= 1
        repeat {
            if let field = try field(&scanner, bytes) {
                try read(field, into: &draft, &scanner, bytes)
            } else {
                decoded.unknownFields += 1
                try scanner.skipValue(bytes, depth: 1)
            }
        } while try !scanner.endsList(with: UInt8(ascii: "}"), bytes)
        try complete(&draft, bytes)
    }

    /// Reads a name and the colon behind it; nil for one that is unknown.
    @inline(__always)
    private mutating func field(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> EventField? {
        try scanner.expect(UInt8(ascii: "\""), bytes)
        guard
            let name = vocabulary.fields.valueOfQuotedName(bytes, at: scanner.position),
            name.value != .events, name.value != .sentAt
        else {
            return try unusualField(&scanner, bytes)
        }
        scanner.position &+= name.length &+ 1
        try scanner.expect(UInt8(ascii: ":"), bytes)
        return name.value
    }

    /// Reads a name that is long, has escapes, is unknown or means an envelope, which is a fault here.
    @inline(never)
    private mutating func unusualField(
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> EventField? {
        scanner.position -= 1
        let name = try scanner.string(bytes)
        try scanner.expect(UInt8(ascii: ":"), bytes)
        let field = fieldNamed(name, bytes)
        guard field != .events, field != .sentAt else { throw JSONFault(.malformedJSON) }
        return field
    }
}
