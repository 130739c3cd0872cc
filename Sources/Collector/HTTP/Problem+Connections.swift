// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

extension Problem {
    /// What a client was too slow with, while it can still be told.
    static func tooSlow(_ phase: ConnectionPhases.Phase) -> Problem {
        let (what, setting) =
            phase == .body ? ("body of the request", "--body-timeout") : ("head of the request", "--header-timeout")
        return Problem(
            status: .requestTimeout,
            type: "request-timeout",
            title: "Too slow",
            detail: "The \(what) did not come in time (see \(setting)); nothing of it was stored. "
                + "Try again, with fewer events in a request where the network is slow."
        )
    }

    static let headTooLarge = Problem(
        status: .requestHeaderFieldsTooLarge,
        type: "head-too-large",
        title: "Head too large",
        detail:
            "Expected a head of at most \(RequestHeadLimits.bytes >> 10) KiB and \(RequestHeadLimits.fields) fields."
    )

    static let unreadableRequest = Problem(
        status: .badRequest,
        type: "unreadable-request",
        title: "Unreadable request",
        detail: "Expected a request of HTTP/1.1; what came is none, or ended too early. Nothing of it was stored."
    )

    /// What is answered where a request cannot be read; nil where the connection failed.
    init?(unreadable error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: self = .headTooLarge
        case is HTTPParserError, is HTTP1TypeConversionError: self = .unreadableRequest
        default: return nil
        }
    }

    /// The answer after which the connection closes, without what every answer says of the server.
    var lastAnswer: (HTTPResponse, ByteBuffer) {
        let body = ByteBuffer(string: json)
        var head = HTTPResponse(status: status, headerFields: headers)
        head.headerFields[.contentLength] = String(body.readableBytes)
        head.headerFields[.connection] = "close"
        return (head, body)
    }
}

/// What the head of a request may have.
enum RequestHeadLimits {
    /// The names and values of all fields together, and the request's target, in bytes.
    static let bytes = 64 << 10
    static let fields = 200
}
