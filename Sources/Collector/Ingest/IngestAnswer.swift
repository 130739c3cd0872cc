// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import TelemetryEvents

/// `{"accepted":n,"duplicates":n,"rejected":[{"index":i,"reason":"..."}]}` (SPEC 8), with `lines` for a log.
enum IngestAnswer {
    static func response(accepted: Int, duplicates: Int, _ decoded: DecodedEvents) -> Response {
        var body = Array(#"{"accepted":\#(accepted),"duplicates":\#(duplicates),"#.utf8)
        body += rejections(decoded)
        body += lines(decoded.lines)
        body += Array("}\n".utf8)
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: body))
        )
    }

    /// The member `lines`, where the body was a log.
    private static func lines(_ lines: LogLineCounts) -> [UInt8] {
        guard lines.read > 0 else { return [] }
        return Array(
            (#","lines":{"read":\#(lines.read),"recognised":\#(lines.recognised),"foreign":\#(lines.foreign)"#
                + #","unrecognised":\#(lines.unrecognised)}"#).utf8
        )
    }

    /// The member `rejected`, and `rejectedOmitted` when there are more than are named.
    static func rejections(_ decoded: DecodedEvents) -> [UInt8] {
        var body = Array(#""rejected":["#.utf8)
        var reasons: [Rejection: [UInt8]] = [:]
        for (index, rejection) in decoded.rejections.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(#"{"index":"#)
            body.appendDecimal(Int64(rejection.index))
            body.append(#","reason":"#)
            let kind = Rejection(index: 0, reason: rejection.reason, field: rejection.field)
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
