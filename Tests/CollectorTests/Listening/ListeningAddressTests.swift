// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Testing

@testable import Collector

@Suite("What is shown of listeners")
struct ListeningAddressTests {
    @Test(
        "is a URL that works on this machine",
        arguments: [
            ("127.0.0.1", "http://127.0.0.1:10/metrics"), ("0.0.0.0", "http://127.0.0.1:10/metrics"),
            ("::1", "http://[::1]:10/metrics"), ("::", "http://localhost:10/metrics"),
        ]
    )
    func urls(host: String, url: String) {
        let address = ListeningAddress(place: .internet(host: host, port: 10), services: .metrics, scheme: "http")
        #expect(address.url("/metrics") == url)
        #expect(address.curl("/metrics") == url)
    }

    @Test("is on the start screen by what each serves, with commands for the first of a kind")
    func screen() {
        let screen = StartScreen(
            addresses: [
                ListeningAddress(place: .internet(host: "127.0.0.1", port: 1), services: .metrics, scheme: "https"),
                ListeningAddress(place: .unix(path: "/run/in.sock"), services: .ingest, scheme: "http"),
                ListeningAddress(
                    place: .internet(host: "::1", port: 2),
                    services: [.ingest, .metrics],
                    scheme: "http"
                ),
                ListeningAddress(place: .unix(path: "/run/lines.sock"), services: .lines, scheme: "http"),
            ],
            ledger: "/state/ledger.sqlite",
            opening: .created,
            journal: "off",
            durability: .process
        )
        let text = screen.description
        #expect(
            text.contains(
                """
                  post     unix:/run/in.sock /v1/events
                  post     http://[::1]:2/v1/events
                  scrape   https://127.0.0.1:1/metrics
                  scrape   http://[::1]:2/metrics
                  lines    unix:/run/lines.sock
                  ledger   /state/ledger.sqlite (
                """
            )
        )
        #expect(text.contains("  curl -s --unix-socket /run/in.sock http://localhost/v1/events -H "))
        #expect(text.contains("  curl -s https://127.0.0.1:1/metrics | grep "))
    }

    @Test("says what a listener does not serve is not there, and names what is")
    func notFound() {
        let served = ServedPaths(metricsPath: "/m", hasReload: true)
        #expect(served.serves("/v1/events", .ingest) && !served.serves("/m", .ingest))
        #expect(served.serves("/m", .metrics) && !served.serves("/v1/events", .metrics))
        #expect(served.serves("/-/ready", .metrics) && served.serves("/-/healthy", .ingest))
        #expect(served.notFound(.metrics).detail == "Expected /m, /-/healthy, /-/ready or /-/reload.")
        #expect(served.notFound(.ingest).detail == "Expected /-/healthy, /-/ready or /v1/events.")
    }

    @Test("has the date as HTTP writes it")
    func date() {
        #expect(ServerHeaders.date(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(ServerHeaders.date(at: 0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}
