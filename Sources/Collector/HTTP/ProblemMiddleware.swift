// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// Turns every error into a problem answer and counts every request by route and status.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    let metrics: HTTPMetrics
    /// The paths that there are.
    let paths: [String]

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response: Response
        do {
            response = try await next(request, context)
        } catch let problem as Problem {
            response = problem.response
        } catch let error as any HTTPResponseError {
            response = problem(for: error.status).response
        }
        metrics.count(route: context.endpointPath, status: response.status.code)
        return response
    }

    private func problem(for status: HTTPResponse.Status) -> Problem {
        switch status {
        case .contentTooLarge:
            .bodyTooLarge
        case .notFound:
            Problem(
                status: status,
                type: "not-found",
                title: "No such path",
                detail: "Expected \(paths.dropLast().joined(separator: ", ")) or \(paths.last ?? "")."
            )
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
