// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// The headers of every answer of the console.
enum ConsoleHeaders {
    /// Nothing but the console's own scripts and styles; no framing, no forms elsewhere, no HTML made from text.
    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        + "trusted-types 'none'"

    static let all: [(HTTPField.Name, String)] =
        [
            (.contentSecurityPolicy, contentSecurityPolicy),
            (.xContentTypeOptions, "nosniff"),
        ] + named.compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }

    private static let named = [
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}

/// Adds the headers that keep a console answer from running, framing or leaking anything.
///
/// Everything that is shown came from a phone or an upload; these headers bound what a mistake in the pages could do.
struct ConsoleHeadersMiddleware: RouterMiddleware {
    let served: ServedPaths

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard context.listener.services.contains(.console), isOfConsole(request.uri.path, context) else {
            return response
        }
        for (name, value) in ConsoleHeaders.all { response.headers[name] = value }
        return response
    }

    /// Also of a path of the API that there is not, and of a method that a path does not have.
    private func isOfConsole(_ path: String, _ context: ServiceContext) -> Bool {
        let part = served.part(of: context.endpointPath) ?? served.route(of: path)?.part
        return part == .console || path.hasPrefix("/api/") || path.hasPrefix("/assets/")
    }
}
