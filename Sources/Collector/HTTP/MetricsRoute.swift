// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import MetricsRegistry
internal import NIOCore

/// `GET /metrics`: the page in the Prometheus text format 0.0.4.
struct MetricsRoute: Sendable {
    let registry: MetricsRegistry
    let metrics: HTTPMetrics

    func respond(to request: Request) -> Response {
        let names = request.uri.queryParameters.getAll("name[]")
        let started = ContinuousClock.now
        let page = registry.withExposition(names: names.isEmpty ? nil : Set(names.map { String($0) })) { page in
            var buffer = ByteBuffer()
            unsafe buffer.writeBytes(page.bytes)
            return buffer
        }
        metrics.scraped(bytes: page.readableBytes, in: ContinuousClock.now - started)
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: .init(byteBuffer: page)
        )
    }
}
