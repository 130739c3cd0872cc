// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// An error response (`application/problem+json`, RFC 9457).
struct Problem: Error {
    var status: HTTPResponse.Status
    /// The last part of the problem's type URI.
    var type: String
    var title: String
    /// What was expected, what was found and what to do.
    var detail: String
    /// Seconds for `Retry-After`.
    var retryAfter: Int?
    /// The methods of the path, for `Allow`.
    var allow: String?
    /// The challenge of `WWW-Authenticate`.
    var authenticate: String?
    /// Additional members of the object, encoded, each with a leading comma.
    var members = ""

    var response: Response {
        Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: json)))
    }

    /// The response to a method; without its body to HEAD (RFC 9110, 9.3.2).
    func response(to method: HTTPRequest.Method) -> Response {
        method == .head ? response.createHeadResponse() : response
    }

    var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: "application/problem+json"]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if let allow { headers[.allow] = allow }
        if let authenticate { headers[.wwwAuthenticate] = authenticate }
        return headers
    }

    /// The object and a line feed.
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

/// Turns each error into a problem response and counts each request by route and status.
struct ProblemMiddleware: RouterMiddleware {
    let metrics: HTTPMetrics
    let served: ServedPaths

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let response: Response
        var route = context.endpointPath
        do {
            response = try await next(request, context)
        } catch let problem as Problem {
            response = problem.response(to: request.method)
        } catch let error as any HTTPResponseError {
            let problem = problem(for: error.status, request.uri.path, context.listener.services)
            if problem.allow != nil { route = served.route(of: request.uri.path)?.path }
            response = problem.response(to: request.method)
        }
        metrics.count(route: route, status: response.status.code)
        return response
    }

    private func problem(
        for status: HTTPResponse.Status,
        _ path: String,
        _ services: Listener.Services
    ) -> Problem {
        switch status {
        case .contentTooLarge:
            .bodyTooLarge
        case .notFound:
            served.unmatched(path, services)
        default:
            Problem(status: status, type: "http", title: status.reasonPhrase, detail: "The request cannot be served.")
        }
    }
}

extension Problem {
    static let bodyTooLarge = Problem(
        status: .contentTooLarge,
        type: "body-too-large",
        title: "Body too large",
        detail: "The body is larger than the limit (see --max-body); send the events in several requests."
    )
}

/// Seconds for `Retry-After` (RFC 9110, 10.2.3), with jitter so that clients refused together don't return together.
enum RetryHint {
    /// In seconds.
    static let maximum = 60

    /// Adds up to a half of the duration, or 2 s if that is more, in whole seconds from 1 to ``maximum``.
    ///
    /// Durations above 40 s count as 40 s, to leave room for the jitter.
    static func jittered(_ duration: Duration, using generator: inout some RandomNumberGenerator) -> Int {
        let (whole, rest) = duration.components
        let seconds = min(max(Int(clamping: whole) + (rest > 0 && whole < maximum ? 1 : 0), 1), maximum * 2 / 3)
        return seconds + Int.random(in: 0...max(2, seconds / 2), using: &generator)
    }

    static func jittered(_ duration: Duration) -> Int {
        var generator = SystemRandomNumberGenerator()
        return jittered(duration, using: &generator)
    }
}
