// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// Turns every error into a problem answer and counts every request by route and status.
struct ProblemMiddleware: RouterMiddleware {
    let metrics: HTTPMetrics
    let served: ServedPaths

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let response: Response
        do {
            response = try await next(request, context)
        } catch let problem as Problem {
            response = problem.response
        } catch let error as any HTTPResponseError {
            response = problem(for: error.status, context.listener.services).response
        }
        metrics.count(route: context.endpointPath, status: response.status.code)
        return response
    }

    private func problem(for status: HTTPResponse.Status, _ services: Listener.Services) -> Problem {
        switch status {
        case .contentTooLarge:
            .bodyTooLarge
        case .notFound:
            served.notFound(services)
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
