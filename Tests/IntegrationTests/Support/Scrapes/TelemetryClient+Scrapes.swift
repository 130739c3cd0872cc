// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

extension TelemetryClient {
    /// A page with these headers, as it comes.
    func scrape(_ headers: [(String, String)] = [], method: String = "GET", path: String = "/metrics") async throws
        -> Answer
    {
        try await request(path, method: method, headers: HTTPHeaders(headers), within: .seconds(30))
    }

    /// The value of a sample without labels, on a page with that family alone.
    func metric(_ name: String) async throws -> Double? {
        MetricsPage(try await scrape(path: "/metrics?name[]=\(name)").text).value(name)
    }
}
