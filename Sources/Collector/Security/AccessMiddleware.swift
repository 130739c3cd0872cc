// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// Holds every request against the rates, then against who it comes from.
///
/// `POST /v1/events` needs a token where there are tokens, and nothing else then. Everything else needs a user where
/// there are users, health included as in the exporter-toolkit.
struct AccessMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    let security: RequestSecurity
    /// The path of the route that takes events, as it stands in the router.
    let eventsPath: String

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try security.keepRates(ClientAddress(context.peer))
        let rules = security.rules.current
        let authorization = Authorization(request.headers[.authorization])
        var context = context
        // By the route and not by the path, of which there are many ways to write the same.
        if rules.needsToken, request.method == .post, context.endpointPath == eventsPath {
            context.token = try security.token(authorization, rules)
        } else if !rules.web.users.isEmpty {
            try await security.checkUser(authorization, rules)
        }
        return try await next(request, context)
    }
}
