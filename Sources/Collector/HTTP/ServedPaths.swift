// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// The paths that there are, and which of them a listener answers.
struct ServedPaths: Sendable {
    let metricsPath: String
    /// What is read.
    let pages: [String]
    /// What is posted to.
    let actions: [String]

    init(metricsPath: String, hasReload: Bool) {
        self.metricsPath = metricsPath
        pages = [metricsPath, "/-/healthy", "/-/ready"]
        actions = ["/v1/events"] + (hasReload ? ["/-/reload"] : [])
    }

    var all: [String] { pages + actions }

    /// What tells whether the service lives and is ready is answered by every listener; a reload where the metrics are, since
    /// that is not where devices come.
    ///
    /// - Parameter path: as it stands in the router; nil where there is none.
    func serves(_ path: String?, _ services: Listener.Services) -> Bool {
        switch path {
        case "/v1/events": services.contains(.ingest)
        case metricsPath, "/-/reload": services.contains(.metrics)
        default: true
        }
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

/// Answers 404 for what the listener does not serve.
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
