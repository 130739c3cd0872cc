// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import MetricsRegistry

/// What a scrape asks for.
struct ScrapeRequest: Sendable {
    var format: ExpositionFormat
    var coding: ContentCoding
    /// The families to show; nil for all.
    var names: Set<String>?
    /// How long the answer may take, in whole.
    var timeout: Duration

    /// - Parameter createdSamples: whether OpenMetrics and protobuf tell when counters and histograms began.
    init(_ request: Request, createdSamples: Bool) throws(Problem) {
        format = .negotiated(accept: request.headers[.accept])
        format.createdSamples = createdSamples
        coding = .negotiated(acceptEncoding: request.headers[.acceptEncoding])
        names = try ScrapedNames.of(query: request.uri.query)
        timeout = ScrapeTimeout.of(HTTPField.Name(ScrapeTimeout.header).flatMap { request.headers[$0] })
    }
}
