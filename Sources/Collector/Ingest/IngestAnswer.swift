// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import TelemetryEvents

/// The response body: `{"accepted":n,"duplicates":n,"rejected":[{"index":i,"reason":"..."}]}`, with `lines` for a log,
/// `unknownFields` where some were dropped, and `notes` where there is something to say.
enum IngestAnswer {
    static func response(
        accepted: Int,
        duplicates: Int,
        _ decoded: DecodedEvents,
        notes: [String] = [],
        isDryRun: Bool = false
    ) -> Response {
        var body = Array(#"{"accepted":\#(accepted),"duplicates":\#(duplicates),"#.utf8)
        body += rejections(decoded)
        body += lines(decoded.lines)
        body += unknownFields(decoded)
        body += members(notes: notes)
        if isDryRun { body += Array(DryRun.mark.utf8) }
        body += Array("}\n".utf8)
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: body))
        )
    }

    /// The member `unknownFields`: how many were dropped, and how many of them resemble which known one. What they are
    /// called is not repeated.
    private static func unknownFields(_ decoded: DecodedEvents) -> [UInt8] {
        guard decoded.unknownFields > 0 else { return [] }
        var text = #","unknownFields":{"count":\#(decoded.unknownFields),"resemble":{"#
        for (index, (name, count)) in decoded.resembledFields.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { text += "," }
            text.appendJSON(name)
            text += ":\(count)"
        }
        return Array((text + "}}").utf8)
    }

    /// The member `notes`.
    private static func members(notes: [String]) -> [UInt8] {
        if notes.isEmpty { return [] }
        var text = #","notes":["#
        for (index, note) in notes.enumerated() {
            if index > 0 { text += "," }
            text.appendJSON(note)
        }
        return Array((text + "]").utf8)
    }

    /// The member `lines` of a log's response.
    private static func lines(_ lines: LogLineCounts) -> [UInt8] {
        guard lines.read > 0 else { return [] }
        return Array(
            (#","lines":{"read":\#(lines.read),"recognised":\#(lines.recognised),"foreign":\#(lines.foreign)"#
                + #","unrecognised":\#(lines.unrecognised)}"#).utf8
        )
    }

    /// The member `rejected`, and `rejectedOmitted` where the list is truncated.
    static func rejections(_ decoded: DecodedEvents) -> [UInt8] {
        var body = Array(#""rejected":["#.utf8)
        var reasons: [Rejection: [UInt8]] = [:]
        for (index, rejection) in decoded.rejections.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(#"{"index":"#)
            body.appendDecimal(Int64(rejection.index))
            body.append(#","reason":"#)
            let kind = Rejection(
                index: 0,
                reason: rejection.reason,
                field: rejection.field,
                nearestKind: rejection.nearestKind
            )
            if reasons[kind] == nil {
                var text = ""
                text.appendJSON(kind.description)
                reasons[kind] = Array(text.utf8)
            }
            body += reasons[kind] ?? []
            body.append(UInt8(ascii: "}"))
        }
        body.append(UInt8(ascii: "]"))
        let omitted = decoded.rejected - decoded.rejections.count
        if omitted > 0 { body += Array(#","rejectedOmitted":\#(omitted)"#.utf8) }
        return body
    }
}
