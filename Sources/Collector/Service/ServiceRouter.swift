// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// Every path that the service answers.
enum ServiceRouter {
    static func build(
        events: EventsRoute,
        metrics: MetricsRoute,
        paths: ServedPaths,
        readiness: Readiness,
        reload: ReloadRoute?,
        access: RequestSecurity,
        answers: HTTPMetrics
    ) -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: ProblemMiddleware(metrics: answers, served: paths))
        router.add(middleware: ServedPathsMiddleware(served: paths))
        router.add(middleware: AccessMiddleware(security: access, eventsPath: "/v1/events"))
        router.post("/v1/events") { request, context in
            try await events.respond(to: request, token: context.token)
        }
        if let reload { router.post("/-/reload") { _, _ in try await reload.respond() } }
        for path in paths.actions {
            refuse([.get, .put, .delete, .patch], at: RouterPath(path), allowed: "POST", router)
        }
        for path in paths.pages {
            refuse([.post, .put, .delete, .patch], at: RouterPath(path), allowed: "GET, HEAD", router)
        }
        router.get(RouterPath(paths.metricsPath)) { request, context in
            try await metrics.respond(to: request, over: context.connection)
        }
        router.get("/-/healthy") { _, _ in plain(.ok, "dnp-telemetry is alive.\n") }
        router.get("/-/ready") { _, _ in
            readiness.isReady
                ? plain(.ok, "dnp-telemetry is ready.\n") : plain(.serviceUnavailable, "dnp-telemetry is stopping.\n")
        }
        return router
    }

    private static func refuse(
        _ methods: [HTTPRequest.Method],
        at path: RouterPath,
        allowed: String,
        _ router: Router<ServiceContext>
    ) {
        for method in methods {
            router.on(path, method: method) { _, _ -> Response in throw Problem.methodNotAllowed(allowed) }
        }
    }

    private static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }
}

/// Whether the service takes events: after recovery and until it is told to stop.
final class Readiness: Sendable {
    private let ready = Atomic(true)

    var isReady: Bool { ready.load(ordering: .relaxed) }

    func stop() { ready.store(false, ordering: .relaxed) }
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
