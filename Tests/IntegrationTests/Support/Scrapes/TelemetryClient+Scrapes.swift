// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

extension TelemetryClient {
    /// A page with these headers, as it comes, or as it was before it was compressed.
    func scrape(
        _ headers: [(String, String)] = [],
        method: String = "GET",
        path: String = "/metrics",
        unpacks: Bool = false
    ) async throws -> Answer {
        try await request(
            path,
            method: method,
            headers: HTTPHeaders(headers),
            unpacks: unpacks,
            within: .seconds(30)
        )
    }

    /// The value of a sample without labels, on a page with that family alone.
    func metric(_ name: String) async throws -> Double? {
        MetricsPage(try await scrape(path: "/metrics?name[]=\(name)").text).value(name)
    }
}
