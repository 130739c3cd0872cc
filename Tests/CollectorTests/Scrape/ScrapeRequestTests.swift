// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import HTTPTypes
import MetricsRegistry
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Collector

@Suite("What a scrape asks for")
struct ScrapeRequestTests {
    @Test(
        "a scrape request is answered before its client gives up, within bounds; garbage is as good as nothing",
        arguments: [
            ("15", 14.5), ("10.000000", 9.5), ("1", 0.5), ("0.4", 0.2), ("0.001", 0.1), ("3600", 120), (nil, 10),
            ("", 10), ("0", 10),
            ("-5", 10), ("nan", 10), ("inf", 10), ("0x10", 10), ("1e3", 10), ("10s", 10), (" 5", 10), ("1.2.3", 10),
            (String(repeating: "9", count: 33), 10), (String(repeating: "9", count: 32), 120), (".", 10),
        ] as [(String?, Double)]
    )
    func timeout(header: String?, seconds: Double) {
        #expect(ScrapeTimeout.of(header) == .seconds(seconds))
    }

    @Test(
        "a scrape request is all families unless it names some, as name[] in any coding",
        arguments: [
            (nil, nil), ("", nil), ("a=b&&=&name=x", nil), ("name[", nil),
            ("name[]=up", ["up", "up_total"]),
            ("name%5B%5D=a&name%5b%5d=b_total", ["a", "a_total", "b_total", "b_total_total"]),
            ("x=1&name[]=a%3Ab&y", ["a:b", "a:b_total"]),
            ("name[]=a+b%2", ["a b%2", "a b%2_total"]),
            ("name[]", ["", "_total"]), ("name[]=", ["", "_total"]), ("name[]=%FF", ["\u{FFFD}", "\u{FFFD}_total"]),
        ] as [(String?, Set<String>?)]
    )
    func scrapeRequestNames(query: String?, names: Set<String>?) throws {
        #expect(try ScrapedNames.of(query: query) == names)
    }

    @Test("a scrape request may name 1,000 families and no more")
    func tooManyNames() throws {
        let query = Array(repeating: "name[]=a", count: 1_000).joined(separator: "&")
        #expect(try ScrapedNames.of(query: query) == ["a", "a_total"])
        #expect { try ScrapedNames.of(query: query + "&name[]=b") } throws: { error in
            (error as? Problem)?.status == .badRequest
        }
    }

    @Test(
        "a scrape request comes by a path that cannot be mistaken for another",
        arguments: [
            "/metrics", "/m", "/probe/metrics.txt", "/~a/-_.", "/v10/metrics", "/apis",
        ]
    )
    func path(path: String) {
        #expect(MetricsPath.complaint(about: path) == nil)
    }

    @Test(
        "a scrape request does not come by other paths",
        arguments: [
            "", "/", "metrics", "/metrics/", "//metrics", "/a//b", "/..", "/a/./b", "/a b", "/{id}", "/:id", "/*",
            "/a%20b",
            "/metrics?x", "/é", "/v1/events", "/api/v1", "/-/ready", "/" + String(repeating: "a", count: 256),
        ]
    )
    func otherPath(path: String) {
        #expect(MetricsPath.complaint(about: path) != nil)
    }
}

@Suite("The places of scrapes")
struct ScrapeSlotsTests {
    @Test("scrape slots are so many, and free again once given back, twice or by being forgotten")
    func scrapeSlotsLimit() {
        let gauge = MetricsRegistry(now: { startOfTest }).gauge("in_flight", help: "Scrapes.")
        let slots = ScrapeSlots({ ScrapeSlots.Limits(slots: 2, stall: .seconds(1)) }, gauge: gauge)
        let take = { slots.take(for: EmbeddedChannel(), at: .now())?.slot }
        let first = take()
        var second = take()
        #expect(first != nil && second != nil)
        #expect(gauge.value == 2)
        #expect(take() == nil)
        first?.giveBack()
        first?.giveBack()
        #expect(gauge.value == 1)
        let third = take()
        #expect(third != nil)
        #expect(take() == nil)
        second = nil
        #expect(gauge.value == 1)
        #expect(second == nil && take() != nil)
        withExtendedLifetime(third) {}
    }

    @Test("a scrape slot goes from the client that has read nothing for longest to a new one, and from no other")
    func scrapeSlotsStalled() throws {
        let gauge = MetricsRegistry(now: { startOfTest }).gauge("in_flight", help: "Scrapes.")
        let slots = ScrapeSlots({ ScrapeSlots.Limits(slots: 2, stall: .seconds(1)) }, gauge: gauge)
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let channels = (0..<3).map { _ in EmbeddedChannel() }
        let first = try #require(slots.take(for: channels[0], at: start)).slot
        let second = try #require(slots.take(for: channels[1], at: start)).slot
        #expect(slots.take(for: channels[2], at: start + .seconds(60)) == nil, "their pages are being rendered")
        first.progressed(at: start + .seconds(1))
        second.progressed(at: start)
        #expect(slots.take(for: channels[2], at: start + .milliseconds(999)) == nil)

        let third = try #require(slots.take(for: channels[2], at: start + .seconds(3)))
        #expect(third.stalled === channels[1])
        #expect(gauge.value == 2)
        second.giveBack()
        #expect(gauge.value == 2, "it has no slot to give back")
        let fourth = try #require(slots.take(for: channels[1], at: start + .seconds(3)))
        #expect(fourth.stalled === channels[0])
        #expect(slots.take(for: channels[0], at: start + .seconds(3)) == nil)
        withExtendedLifetime([first, second, third.slot, fourth.slot]) {}
    }
}
