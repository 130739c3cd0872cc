// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// Where the page comes from that sends a request (the Fetch standard, 3.3: CORS protocol).
///
/// No answer allows credentials, so a page can use what it has itself, a token, and nothing that the browser holds.
enum RequestOrigin: Equatable {
    /// No page, or one of the same host.
    case own
    /// A page of an origin that may post.
    case allowed(WebOrigin)
    /// Another page.
    case foreign

    init(_ request: Request, _ allowed: [WebOrigin]) {
        guard let text = request.headers[.origin] else {
            self = .own
            return
        }
        guard let origin = WebOrigin(text) else {
            self = .foreign
            return
        }
        if allowed.contains(origin) {
            self = .allowed(origin)
        } else {
            self = origin.isSame(asHost: request.head.authority) ? .own : .foreign
        }
    }

    /// Whether no page of another site sends a request, by `Sec-Fetch-Site` where the browser sends it, else by `Origin`.
    static func isSameOrigin(_ request: Request) -> Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.headers[name] {
            return site == "same-origin"
        }
        return RequestOrigin(request, []) == .own
    }

    /// Whether a request asks what a page may send. It comes without credentials.
    static func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.headers[.accessControlRequestMethod] != nil
    }
}

/// Tells browsers which pages may post events and read the answers.
struct CrossOriginMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    /// For how long a browser may remember the answer to a preflight; it also bounds how often a reload is not seen.
    private static let preflightSeconds = "600"
    private static let headers =
        "Authorization, Content-Type, Content-Encoding, Idempotency-Key, X-Installation-Id, X-Source-Id"

    let configuration: LiveConfiguration
    /// The path of the events route as registered in the router.
    let eventsPath: String

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard context.endpointPath == eventsPath else { return response }
        let allowed = configuration.current.allowedOrigins
        guard !allowed.isEmpty else { return response }
        response.headers[.vary] = "Origin"
        guard case .allowed(let origin) = RequestOrigin(request, allowed) else { return response }
        response.headers[.accessControlAllowOrigin] = origin.description
        if RequestOrigin.isPreflight(request) {
            response.headers[.accessControlAllowMethods] = "POST"
            response.headers[.accessControlAllowHeaders] = Self.headers
            response.headers[.accessControlMaxAge] = Self.preflightSeconds
        } else {
            response.headers[.accessControlExposeHeaders] = "Retry-After"
        }
        return response
    }
}

extension Problem {
    /// The console and reloads take requests of the service's own pages, and of programs.
    static let foreignSite = Problem(
        status: .forbidden,
        type: "origin",
        title: "Origin not allowed",
        detail: "Expected a request of the service's own pages or of a program, found one of another site's page."
    )

    /// A page may not post, even where it could not read the answer.
    static let foreignOrigin = Problem(
        status: .forbidden,
        type: "origin",
        title: "Origin not allowed",
        detail: "Expected no Origin, or one of --cors-origin, found the Origin of another page; nothing was stored."
    )
}
