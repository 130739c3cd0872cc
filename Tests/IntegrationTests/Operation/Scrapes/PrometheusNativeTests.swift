// SPDX-License-Identifier: Apache-2.0

import Foundation
import MetricsRegistry
import Testing

extension EndToEnd {
    @Suite("a real Prometheus and native histograms")
    struct PrometheusNative {
        /// The factor from a bucket's bound to the next one's.
        private static let growth = exp2(1.0 / 8)
        private static let features = ["native-histograms", "exemplar-storage"]

        private let registry = MetricsRegistry()

        @Test("come together: count, sum, quantiles and fractions are read back from its API, over several scrapes")
        func readBack() async throws {
            let sizes = registry.histogram(
                "fetch_seconds",
                help: "Fetches.",
                unit: "seconds",
                native: NativeBuckets(schema: 3)
            )
            for value in 1...1_000 { sizes.observe(Double(value) / 100) }
            try await PageServer.with(registry) { port in
                try await Prometheus.with(scraping: port, features: Self.features) { prometheus in
                    try await eventually("the histogram is scraped") {
                        try await prometheus.query("histogram_count(fetch_seconds)").map(\.value) == [1_000]
                    }
                    let sum = try await prometheus.query("histogram_sum(fetch_seconds)").first?.value
                    #expect(abs((sum ?? .nan) - 5_005) < 1e-6)
                    for (rank, value) in [(0.1, 1.0), (0.5, 5), (0.99, 9.9)] {
                        let found = try await prometheus.query("histogram_quantile(\(rank),fetch_seconds)").first?.value
                        #expect((value / Self.growth...value * Self.growth).contains(found ?? .nan), "\(rank)")
                    }
                    // 4 is a bound of every resolution.
                    let fraction = try await prometheus.query("histogram_fraction(0,4,fetch_seconds)").first?.value
                    #expect(abs((fraction ?? .nan) - 0.4) < 1e-9)
                    #expect(
                        try await prometheus.query("fetch_seconds_bucket") == [],
                        "it was not taken as a classic one"
                    )
                    #expect(try await prometheus.type(of: "fetch_seconds") == "histogram")

                    for value in 1...500 { sizes.observe(-Double(value)) }
                    for _ in 0..<250 { sizes.observe(0) }
                    try await eventually("new buckets, negative ones and that of zero are scraped") {
                        try await prometheus.query("histogram_count(fetch_seconds)").map(\.value) == [1_750]
                    }
                    let below = try await prometheus.query("histogram_fraction(-1024,0,fetch_seconds)").first?.value
                    #expect((500.0 / 1_750...750.0 / 1_750).contains(below ?? .nan))
                    let total = try await prometheus.query("histogram_sum(fetch_seconds)").first?.value
                    #expect(abs((total ?? .nan) - (5_005 - 125_250)) < 1e-6)
                }
            }
        }

        @Test("bring their exemplars where they have fixed bounds too")
        func exemplars() async throws {
            let delays = registry.histogram(
                "delay_seconds",
                help: "Delays.",
                unit: "seconds",
                buckets: [1, 10, 100],
                native: NativeBuckets(schema: 3)
            )
            let now = Int64(Date().timeIntervalSince1970 * 1e6)
            func observe(_ value: Double, _ id: String, at time: Int64) throws {
                let exemplar = try Exemplar(labels: [("schedule_id", id)], value: value, timestamp: time)
                delays.observe(value, exemplar: exemplar)
            }
            try observe(5, "a", at: now - 2_000_000)
            try await PageServer.with(registry) { port in
                try await Prometheus.with(scraping: port, features: Self.features) { prometheus in
                    try await eventually("the histogram is scraped") {
                        try await prometheus.query("histogram_count(delay_seconds)").map(\.value) == [1]
                    }
                    #expect(try await prometheus.query("histogram_sum(delay_seconds)").map(\.value) == [5])
                    try await eventually("the exemplar is stored") {
                        try await prometheus.exemplars("delay_seconds").count == 1
                    }
                    // Prometheus 2.42 takes the first exemplar of a native histogram alone.
                    try observe(6, "b", at: now - 1_000_000)
                    try observe(50, "c", at: now)
                    try await eventually("the next one is stored too") {
                        try await prometheus.exemplars("delay_seconds").count >= 2
                    }
                    let found = try await prometheus.exemplars("delay_seconds").prefix(2)
                    #expect(found.map(\.labels) == [["schedule_id": "a"], ["schedule_id": "b"]])
                    #expect(found.map(\.value) == [5, 6])
                }
            }
        }
    }
}
