// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// A path that the service answers, with its method and what it is part of.
struct ServedRoute: Hashable, Sendable {
    /// What a path is part of; it decides which listeners serve it and who is admitted (``AccessMiddleware``).
    enum Part: Sendable {
        /// The events route.
        case ingest
        /// The metrics page and the reload.
        case metrics
        /// Health and readiness.
        case health
        /// The console's pages, assets and API.
        case console
    }

    /// As registered in the router, such as `/cycles/{number}`.
    let path: String
    /// `GET` or `POST`; `HEAD` and `OPTIONS` follow from it.
    let method: HTTPRequest.Method
    let part: Part

    /// The methods, for `Allow`.
    var methods: String { method == .get ? "GET, HEAD, OPTIONS" : "POST, OPTIONS" }

    /// Whether a path in a request, which may have further slashes, is this one.
    func matches(_ parts: [some StringProtocol]) -> Bool {
        path.split(separator: "/").elementsEqual(parts) { $0.hasPrefix("{") || $0 == $1 }
    }
}

/// The routes of the service, and which of them a listener serves.
struct ServedPaths: Sendable {
    let metricsPath: String
    let routes: [ServedRoute]

    /// - Parameter console: the console's routes; empty where it is off.
    init(metricsPath: String, hasReload: Bool, console: [ServedRoute] = []) {
        self.metricsPath = metricsPath
        routes =
            [
                ServedRoute(path: metricsPath, method: .get, part: .metrics),
                ServedRoute(path: "/-/healthy", method: .get, part: .health),
                ServedRoute(path: "/-/ready", method: .get, part: .health),
                ServedRoute(path: "/v1/events", method: .post, part: .ingest),
            ] + (hasReload ? [ServedRoute(path: "/-/reload", method: .post, part: .metrics)] : []) + console
    }

    /// What a path is part of.
    ///
    /// - Parameter path: as registered in the router; nil if none matches.
    func part(of path: String?) -> ServedRoute.Part? {
        guard let path else { return nil }
        return routes.first { $0.path == path }?.part
    }

    /// Whether a listener serves a path: health and readiness everywhere, reload with the metrics, away from the
    /// devices.
    ///
    /// - Parameter path: as registered in the router; nil if none matches.
    func serves(_ path: String?, _ services: Listener.Services) -> Bool {
        switch part(of: path) {
        case .ingest: services.contains(.ingest)
        case .metrics: services.contains(.metrics)
        case .console: services.contains(.console)
        case .health, nil: true
        }
    }

    /// The route of a path in a request, which may have further slashes; nil if there is none.
    func route(of path: some StringProtocol) -> ServedRoute? {
        let parts = path.split(separator: "/")
        return routes.first { $0.matches(parts) }
    }

    /// The answer to a request that matches no route: its path is unknown, or has other methods.
    ///
    /// - Parameter path: the path in the request.
    func unmatched(_ path: some StringProtocol, _ services: Listener.Services) -> Problem {
        guard let route = route(of: path), serves(route.path, services) else { return notFound(services) }
        return .methodNotAllowed(route.methods)
    }

    /// Whether a request is a scrape or a health check, which places are held back for.
    func isPage(_ request: HTTPRequest) -> Bool {
        guard request.method == .get || request.method == .head, let path = request.path else { return false }
        return routes.contains { route in
            route.method == .get && route.part != .console
                && (path == route.path || path.hasPrefix(route.path + "?"))
        }
    }

    /// Names the paths; of the console its first page and the document that describes its API.
    func notFound(_ services: Listener.Services) -> Problem {
        let served = routes.filter { serves($0.path, services) }
        let paths = served.filter { $0.part != .console }.map(\.path)
        let console =
            served.contains { $0.part == .console } ? "; the console is at /, its API in /api/v1/openapi.json" : ""
        return Problem(
            status: .notFound,
            type: "not-found",
            title: "No such path",
            detail: "Expected \(paths.dropLast().joined(separator: ", ")) or \(paths.last ?? "")\(console)."
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
