// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// The routes of the service, and which of them a listener serves.
struct ServedPaths: Sendable {
    let metricsPath: String
    /// The paths of `GET`.
    let pages: [String]
    /// The paths of `POST`.
    let actions: [String]

    init(metricsPath: String, hasReload: Bool) {
        self.metricsPath = metricsPath
        pages = [metricsPath, "/-/healthy", "/-/ready"]
        actions = ["/v1/events"] + (hasReload ? ["/-/reload"] : [])
    }

    var all: [String] { pages + actions }

    /// Whether a listener serves a path: health and readiness everywhere, reload with the metrics, away from the
    /// devices.
    ///
    /// - Parameter path: as registered in the router; nil if none matches.
    func serves(_ path: String?, _ services: Listener.Services) -> Bool {
        switch path {
        case "/v1/events": services.contains(.ingest)
        case metricsPath, "/-/reload": services.contains(.metrics)
        default: true
        }
    }

    /// The path as registered, of a path in a request, which may have further slashes; nil if there is none.
    func path(of path: some StringProtocol) -> String? {
        let parts = path.split(separator: "/")
        return all.first { $0.split(separator: "/").elementsEqual(parts) { $0 == $1 } }
    }

    /// The answer to a request that matches no route: its path is unknown, or has other methods.
    ///
    /// - Parameter path: the path in the request.
    func unmatched(_ path: some StringProtocol, _ services: Listener.Services) -> Problem {
        guard let path = self.path(of: path), serves(path, services) else { return notFound(services) }
        return .methodNotAllowed(methods(of: path))
    }

    /// The methods of a path, for `Allow`.
    func methods(of path: String) -> String { pages.contains(path) ? "GET, HEAD, OPTIONS" : "POST, OPTIONS" }

    /// Whether a request is a scrape or a health check, which places are held back for.
    func isPage(_ request: HTTPRequest) -> Bool {
        guard request.method == .get || request.method == .head, let path = request.path else { return false }
        return pages.contains { path == $0 || path.hasPrefix($0 + "?") }
    }

    func notFound(_ services: Listener.Services) -> Problem {
        let paths = all.filter { serves($0, services) }
        return Problem(
            status: .notFound,
            type: "not-found",
            title: "No such path",
            detail: "Expected \(paths.dropLast().joined(separator: ", ")) or \(paths.last ?? "")."
        )
    }
}

extension Problem {
    static func methodNotAllowed(_ allowed: String) -> Problem {
        Problem(
            status: .methodNotAllowed,
            type: "method-not-allowed",
            title: "Method not allowed",
            detail: "Expected \(allowed).",
            allow: allowed
        )
    }
}

/// Answers 404 for paths that the listener does not serve.
struct ServedPathsMiddleware: RouterMiddleware {
    let served: ServedPaths

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard served.serves(context.endpointPath, context.listener.services) else {
            throw served.notFound(context.listener.services)
        }
        return try await next(request, context)
    }
}
