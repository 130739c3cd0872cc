// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// Sets the headers of the web configuration on every answer, errors too.
struct HeadersMiddleware<Context: RequestContext>: RouterMiddleware {
    let rules: LiveSecurityRules

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        for header in rules.current.web.headers {
            if let name = HTTPField.Name(header.name) { response.headers[name] = header.value }
        }
        return response
    }
}
