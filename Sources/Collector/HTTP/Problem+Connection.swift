// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// What a connection answers in place of the service.
extension Problem {
    /// A timeout that the client can still be told of.
    static func tooSlow(_ phase: ConnectionPhases.Phase) -> Problem {
        let (what, setting) =
            phase == .body
            ? ("body of the request", "--body-timeout and --min-transfer-rate")
            : ("head of the request", "--header-timeout")
        return Problem(
            status: .requestTimeout,
            type: "request-timeout",
            title: "Too slow",
            detail: "The \(what) was not received in time (see \(setting)); nothing of it was stored. "
                + "Try again, with fewer events in a request if the network is slow."
        )
    }

    /// The client stalled the body while others waited for a place.
    static func stalled() -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "stalled",
            title: "Stalled",
            detail: "The body of the request came more slowly than --min-transfer-rate while other connections waited; "
                + "nothing of it was stored. Try again, with fewer events in a request if the network is slow.",
            retryAfter: RetryHint.jittered(.seconds(1))
        )
    }

    /// All connections within the limit were busy for too long.
    static func noPlace() -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "too-many-connections",
            title: "Too many connections",
            detail: "All connections are busy (see --max-connections); nothing of the request was stored. Try again.",
            retryAfter: RetryHint.jittered(.seconds(1))
        )
    }

    private static let headTooLarge = Problem(
        status: .requestHeaderFieldsTooLarge,
        type: "head-too-large",
        title: "Head too large",
        detail:
            "Expected a head of at most \(RequestHeadLimits.bytes >> 10) KiB and \(RequestHeadLimits.fields) fields."
    )

    private static let unreadableRequest = Problem(
        status: .badRequest,
        type: "unreadable-request",
        title: "Unreadable request",
        detail: "Expected an HTTP/1.1 request, found other data or an incomplete request. Nothing of it was stored."
    )

    /// The answer to an unreadable request; nil if the connection failed.
    init?(unreadable error: any Error) {
        switch error {
        case let fault as RequestHeadFault: self = Problem(fault)
        case HTTPParserError.headerOverflow: self = .headTooLarge
        case HTTPParserError.invalidVersion: self = .unsupportedVersion
        case is HTTPParserError, is HTTP1TypeConversionError: self = .unreadableRequest
        default: return nil
        }
    }

    /// The response after which the connection closes, without the headers that every response gets.
    var closingResponse: (HTTPResponse, ByteBuffer) {
        let body = ByteBuffer(string: json)
        var head = HTTPResponse(status: status, headerFields: headers)
        head.headerFields[.contentLength] = String(body.readableBytes)
        head.headerFields[.connection] = "close"
        return (head, body)
    }
}
