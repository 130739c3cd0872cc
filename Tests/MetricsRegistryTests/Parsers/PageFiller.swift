// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry

/// Fills a registry with hostile metrics and records them.
struct PageFiller {
    private let fixture: RegistryFixture
    private var hostile: HostileWriter
    private var count = 0
    var expected = ExpectedPage()

    init(_ fixture: RegistryFixture, seed: UInt64) {
        self.fixture = fixture
        hostile = HostileWriter(seed: seed)
    }

    /// Adds a family of a random kind with some series, unless the registry refuses its names.
    mutating func addFamily() throws {
        count += 1
        let prefix = ["n", ".", "9", "é"][hostile.number(upTo: 4)] + "\(count)"
        let names = (0..<hostile.number(upTo: 3)).map { hostile.name("l\($0)") }
        let unit = hostile.number(upTo: 3) == 0 ? "bytes" : nil
        let end = (unit.map { "_" + $0 } ?? "") + (hostile.number(upTo: 2) == 0 ? "_total" : "")
        let name = hostile.name(prefix) + end
        let values = (0..<4).map { _ in names.map { _ in hostile.text() } }
        let conflicts = fixture.conflicts.count
        var family = ExpectedPage.Family(
            descriptor: MetricDescriptor(
                name: name,
                help: hostile.help(),
                unit: unit,
                kind: [.counter, .gauge, .histogram][hostile.number(upTo: 3)],
                labelNames: names
            ),
            samples: [],
            exemplars: []
        )
        for values in names.isEmpty ? [[]] : Set(values).sorted(by: { $0.joined() < $1.joined() }) {
            let labels = Array(zip(names, values))
            switch family.descriptor.kind {
            case .counter: try addCounter(&family, values, labels)
            case .gauge: addGauge(&family, values, labels)
            case .histogram: try addHistogram(&family, values, labels)
            }
        }
        if fixture.conflicts.count == conflicts { expected.families.append(family) }
    }

    private mutating func exemplar(_ value: Double) throws -> Exemplar? {
        if hostile.number(upTo: 2) == 0 { return nil }
        // The parser cannot read an odd number of quotes.
        let text = String(String.UnicodeScalarView(hostile.text().unicodeScalars.prefix(50)))
            .replacing("\"", with: "\"\"")
        let trace = String(String.UnicodeScalarView(text.unicodeScalars.prefix(100)))
        let isEven = trace.utf8.count { $0 == UInt8(ascii: "\"") }.isMultiple(of: 2)
        let labels = [("trace", isEven ? trace : "x"), ("n", "1")]
        return try Exemplar(labels: labels, value: value, timestamp: RegistryFixture.start + 250_000)
    }

    private mutating func addCounter(
        _ family: inout ExpectedPage.Family,
        _ values: [String],
        _ labels: [(String, String)]
    ) throws {
        let descriptor = family.descriptor
        let counter = fixture.registry.counter(
            descriptor.name,
            help: descriptor.help,
            unit: descriptor.unit,
            labels: descriptor.labelNames
        ).with(values)
        let amount = UInt64(hostile.number(upTo: 1 << 50))
        counter.add(amount)
        if let exemplar = try exemplar(1) {
            counter.attach(exemplar)
            family.exemplars.append((labels, exemplar))
        }
        family.samples.append(("_total", labels, Double(amount)))
        family.samples.append(("_created", labels, Double(RegistryFixture.start) / 1e6))
    }

    private mutating func addGauge(
        _ family: inout ExpectedPage.Family,
        _ values: [String],
        _ labels: [(String, String)]
    ) {
        let descriptor = family.descriptor
        let gauge = fixture.registry.gauge(
            descriptor.name,
            help: descriptor.help,
            unit: descriptor.unit,
            labels: descriptor.labelNames
        ).with(values)
        let value = [hostile.value(), -hostile.value(), .nan, .infinity, -.infinity][hostile.number(upTo: 5)]
        gauge.set(value)
        family.samples.append(("", labels, value))
    }

    private mutating func addHistogram(
        _ family: inout ExpectedPage.Family,
        _ values: [String],
        _ labels: [(String, String)]
    ) throws {
        let descriptor = family.descriptor
        let bounds = [0.001, 1, 2.5, 1e6]
        let histogram = fixture.registry.histogram(
            descriptor.name,
            help: descriptor.help,
            unit: descriptor.unit,
            labels: descriptor.labelNames,
            buckets: bounds
        ).with(values)
        let observed = hostile.value()
        histogram.observe(observed)
        let bucket = bounds.firstIndex { observed <= $0 } ?? bounds.count
        for (index, bound) in (bounds + [.infinity]).enumerated() {
            let labels = labels + [("le", bound.isFinite ? "\(bound)" : "+Inf")]
            family.samples.append(("_bucket", labels, index >= bucket ? 1 : 0))
            if index == bucket, let exemplar = try exemplar(observed) {
                histogram.attach(exemplar)
                family.exemplars.append((labels, exemplar))
            }
        }
        family.samples.append(("_sum", labels, observed))
        family.samples.append(("_count", labels, 1))
        family.samples.append(("_created", labels, Double(RegistryFixture.start) / 1e6))
    }
}

/// A seeded generator of text that could break a page.
struct HostileWriter {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    private static let pieces = [
        "\"", "\\", "\n", "\\n", "\\\"", "{", "}", ",", "=", "#", " # ", " ", "  ", "\t", "\r", "'", "+Inf", "NaN",
        "le",
        "=\"", "\"} 1", "# EOF", "# TYPE x counter", "_total", "_created", "_bucket", "_sum", "__name__", "é",
        "e\u{301}", "👩‍👩‍👧", "花火", "\u{202E}", "\u{FEFF}", "\u{A0}", "\u{2028}", "\u{85}", "\u{0}", "\u{1B}", "\u{7F}",
        "0", "1e5", "a", "B", ":", "_", ".", "/", String(decoding: [0x66, 0xFF, 0xC0, 0xAF] as [UInt8], as: UTF8.self),
    ]

    mutating func number(upTo bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &random)
    }

    mutating func value() -> Double {
        let special = [0, 0.1, 1e-300, 1e300, 123_456_789.25, 9_007_199_254_740_992]
        return number(upTo: 3) == 0 ? special[number(upTo: special.count)] : Double.random(in: 0...1e6, using: &random)
    }

    /// Random text, sometimes long.
    mutating func text() -> String {
        if number(upTo: 25) == 0 {
            let piece = Self.pieces[number(upTo: Self.pieces.count)]
            return String(repeating: piece, count: 10_240 / piece.utf8.count)
        }
        return (0..<number(upTo: 8)).map { _ in Self.pieces[number(upTo: Self.pieces.count)] }.joined()
    }

    /// Text without surrounding white space, which the parsers trim from help texts.
    mutating func help() -> String {
        "(" + String(text().prefix(2_000)) + ")"
    }

    /// A name that a registry may accept or refuse.
    mutating func name(_ prefix: String) -> String {
        prefix + (0..<number(upTo: 5)).map { _ in Self.pieces[number(upTo: Self.pieces.count)] }.joined()
    }
}
