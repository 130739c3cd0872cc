// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// The console's API: the one table that the router registers, that OpenAPI describes and that a test compares.
enum ConsoleEndpoint: CaseIterable {
    case overview, cycles, cycle, filters, live, health
    case pseudonym, validate, openAPI

    /// Answers a request.
    typealias Handler = @Sendable (Request, ServiceContext) async throws -> Response

    /// As registered in the router.
    var path: String {
        switch self {
        case .overview: "/api/v1/overview"
        case .cycles: "/api/v1/cycles"
        case .cycle: "/api/v1/cycles/{number}"
        case .filters: "/api/v1/filters"
        case .live: "/api/v1/live"
        case .health: "/api/v1/health"
        case .pseudonym: "/api/v1/pseudonym"
        case .validate: "/api/v1/validate"
        case .openAPI: "/api/v1/openapi.json"
        }
    }

    var method: HTTPRequest.Method {
        switch self {
        case .pseudonym, .validate: .post
        default: .get
        }
    }

    var route: ServedRoute { ServedRoute(path: path, method: method, part: .console) }
}

/// The console's pages: one HTML file, which shows the view that its URL names.
enum ConsolePage {
    /// As registered in the router.
    static let paths = ["/", "/cycles", "/cycles/{number}", "/live", "/judge", "/health"]
    static let assetPath = "/assets/{name}"

    static var routes: [ServedRoute] {
        (paths + [assetPath]).map { ServedRoute(path: $0, method: .get, part: .console) }
    }
}
