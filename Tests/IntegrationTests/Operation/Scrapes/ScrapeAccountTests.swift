// SPDX-License-Identifier: Apache-2.0

import Testing

extension EndToEnd {
    @Suite("the accounts of scrapes")
    struct ScrapeAccounts {
        private static let plain = "dnp_telemetry_scrape_plain_bytes_total"
        private static let sent = "dnp_telemetry_scrape_sent_bytes_total"

        @Test("count what was sent: nothing of an answer to HEAD, and of a compressed page what was left of it")
        func sentBytes() async throws {
            try await withService { service in
                let client = await service.client
                let path = "/metrics?name[]=\(Self.plain)&name[]=\(Self.sent)"
                var expected = (plain: 0.0, sent: 0.0)
                // All over one connection, on which an answer is counted before the next request is read.
                for coding in ["identity", "gzip"] {
                    let page = try await client.scrape([("Accept-Encoding", coding)])
                    expected.sent += Double(page.body.count)
                    _ = try await client.scrape([("Accept-Encoding", coding)], method: "HEAD")
                }
                let first = try await client.scrape(path: path)
                let sums = FamilySums(first)
                #expect(sums[Self.sent] == expected.sent)
                #expect(sums[Self.plain] > 2 * expected.sent)
                expected = (sums[Self.plain], expected.sent + Double(first.body.count))
                let head = try await client.scrape(method: "HEAD", path: path)
                let last = try await client.scrape(path: path)
                expected.plain += Double(last.body.count) + (Double(head.headers["content-length"] ?? "") ?? .nan)
                #expect(FamilySums(last)[Self.sent] == expected.sent)
                #expect(FamilySums(last)[Self.plain] == expected.plain)
            }
        }

        @Test("know a path by what the router makes of it, with slashes too many or not")
        func routes() async throws {
            try await withService { service in
                let client = await service.client
                for path in ["/metrics", "/metrics/", "//metrics"] {
                    #expect(try await client.scrape(path: path).status == 200)
                    #expect(try await client.scrape(method: "HEAD", path: path).status == 200)
                    #expect(try await client.scrape(method: "DELETE", path: path).status == 405)
                }
                for path in ["/metrics/more", "/metric", "/"] {
                    #expect(try await client.scrape(path: path).status == 404)
                }
                let page = try await client.metrics()
                func count(_ route: String, _ status: String) -> Double? {
                    page.value("dnp_telemetry_http_requests_total", ["route": route, "status": status])
                }
                #expect(count("/metrics", "200") == 6)
                #expect(count("/metrics", "405") == 3)
                #expect(count("other", "404") == 3)
                #expect(count("other", "200") == nil)
            }
        }
    }
}
