// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import TextOutput

/// The console's pages and their assets.
struct ConsolePages: Sendable {
    private let site: ConsoleSite
    /// What `curl /` gets.
    private let text: String

    init(_ site: ConsoleSite, metricsPath: String) {
        self.site = site
        text = """
            dnp-telemetry \(BuildVersion.current)

              /                     the console, in a browser
              /api/v1/openapi.json  what its API answers (OpenAPI)
              POST /api/v1/validate judges a log: curl --data-binary @device.log .../api/v1/validate
              \(metricsPath.padded(to: 21)) the metrics
              POST /v1/events       takes events
              /-/healthy, /-/ready  health and readiness

            """
    }

    func add(to router: Router<ServiceContext>) {
        for path in ConsolePage.paths {
            router.get(RouterPath(path)) { [self] request, _ in page(request, isFirst: path == "/") }
        }
        router.get(RouterPath(ConsolePage.assetPath)) { [self] request, context in
            guard let name = context.parameters.get("name"), let file = site.assets[name] else {
                throw Problem.noAsset
            }
            return ConditionalResponse(file, .immutable).response(to: request)
        }
    }

    /// The same page for every view; at `/` a client that does not ask for HTML gets text.
    private func page(_ request: Request, isFirst: Bool) -> Response {
        if isFirst, !Self.wantsHTML(request.headers[.accept]) {
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; charset=utf-8", .vary: "Accept",
                    .cacheControl: ConditionalResponse.Freshness.asksEachTime.rawValue,
                ],
                body: .init(byteBuffer: ByteBuffer(string: text))
            )
        }
        return ConditionalResponse(site.page, .asksEachTime, varies: isFirst ? "Accept" : "").response(to: request)
    }

    /// Browsers name HTML; curl accepts anything.
    static func wantsHTML(_ accept: String?) -> Bool {
        accept?.lowercased().split(separator: ",").contains { element in
            let type = element.drop { $0 == " " }.prefix { $0 != ";" && $0 != " " }
            return type == "text/html" || type == "application/xhtml+xml"
        } ?? false
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension Problem {
    fileprivate static let noAsset = Problem(
        status: .notFound,
        type: "not-found",
        title: "No such asset",
        detail: "Expected a name from the page; after an upgrade reload it."
    )
}
