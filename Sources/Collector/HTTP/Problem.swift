// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// An answer that says what is wrong (`application/problem+json`, RFC 9457).
struct Problem: Error {
    var status: HTTPResponse.Status
    /// The last part of the problem's type URI.
    var type: String
    var title: String
    /// What was expected, what was found and what to do.
    var detail: String
    /// After how many seconds to try again.
    var retryAfter: Int?
    /// The methods that the path has.
    var allow: String?
    /// How to tell who one is.
    var authenticate: String?
    /// More members of the object, encoded, each with a comma in front.
    var members = ""

    var response: Response {
        Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: json)))
    }

    var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: "application/problem+json"]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let allow { headers[.allow] = allow }
        if let authenticate { headers[.wwwAuthenticate] = authenticate }
        return headers
    }

    /// The object, with a line feed behind it.
    var json: String {
        var body = #"{"type":"urn:dnp-telemetry:problem:\#(type)","title":"#
        body.appendJSON(title)
        body += #","status":\#(status.code),"detail":"#
        body.appendJSON(detail)
        return body + members + "}\n"
    }
}

extension String {
    /// Appends a text as a JSON string.
    mutating func appendJSON(_ text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            default: unicodeScalars.append(scalar)
            }
        }
        append("\"")
    }
}
