// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry

/// Random families and their expected page.
struct GeneratedPage {
    let fixture = RegistryFixture()
    private(set) var expected: [ShownFamily] = []
    private var random: SeededRandom

    init(seed: UInt64, families: Int) throws {
        random = SeededRandom(seed: seed)
        for index in 0..<families {
            let name = "family_\(10 + index)"
            switch Int.random(in: 0..<4, using: &random) {
            case 0: expected.append(try counters(name))
            case 1: expected.append(try fractions(name))
            case 2: expected.append(gauges(name))
            default: expected.append(try histograms(name))
            }
        }
    }

    private mutating func counters(_ name: String) throws -> ShownFamily {
        var shown = family(name, type: "COUNTER")
        let counters = fixture.registry.counter(name, help: shown.help, unit: shown.unit, labels: ["a", "b"])
        for values in labelValues() {
            var series = series(values)
            let counter = counters.with(values)
            let amount = random.next() >> UInt64.random(in: 0..<64, using: &random)
            counter.add(amount)
            series.value = Double(amount).description
            if Bool.random(using: &random) {
                let exemplar = try exemplar(1)
                counter.attach(exemplar)
                series.exemplar = ShownExemplar(exemplar)
            }
            shown.series.append(series)
        }
        return shown
    }

    private mutating func fractions(_ name: String) throws -> ShownFamily {
        var shown = family(name, type: "COUNTER")
        let counter = fixture.registry.fractionalCounter(name, help: shown.help, unit: shown.unit)
        let value = Double.random(in: 0...1e9, using: &random)
        let exemplar = try exemplar(value)
        counter.add(value, exemplar: exemplar)
        counter.restore(to: 0, created: RegistryFixture.start - 1_000_000)
        shown.series = [
            ShownFamily.Series(
                labels: [],
                value: value.description,
                exemplar: ShownExemplar(exemplar),
                created: RegistryFixture.start - 1_000_000
            )
        ]
        return shown
    }

    private mutating func gauges(_ name: String) -> ShownFamily {
        var shown = family(name, type: "GAUGE")
        let gauges = fixture.registry.gauge(name, help: shown.help, unit: shown.unit, labels: ["a", "b"])
        for values in labelValues() {
            var series = series(values)
            series.created = nil
            let value = Double(bitPattern: random.next())
            gauges.with(values).set(value)
            series.value = value.isNaN ? "nan" : value.description
            shown.series.append(series)
        }
        return shown
    }

    private mutating func histograms(_ name: String) throws -> ShownFamily {
        var shown = family(name, type: "HISTOGRAM")
        let bounds = (0..<Int.random(in: 0...20, using: &random)).map { Double($0 * $0) / 4 - 5 }
        let schema = Int.random(in: -4...8, using: &random)
        let maximum = [8, 160].randomElement(using: &random) ?? 160
        let zero = Bool.random(using: &random) ? 0 : 0x1p-128
        let isNative = Bool.random(using: &random)
        let native = isNative ? NativeBuckets(schema: schema, maximumBuckets: maximum, zeroThreshold: zero) : nil
        let histograms = fixture.registry.histogram(
            name,
            help: shown.help,
            unit: shown.unit,
            labels: ["a", "b"],
            buckets: bounds,
            native: native
        )
        for values in labelValues() {
            var series = series(values)
            series.histogram = try observe(histograms.with(values), bounds)
            shown.series.append(series)
        }
        return shown
    }

    private mutating func observe(_ histogram: Histogram, _ bounds: [Double]) throws -> ShownHistogram {
        let hasBounds = !bounds.isEmpty || histogram.nativeBuckets == nil
        var buckets = (bounds + [.infinity]).map { ShownHistogram.Bucket(bound: $0, count: 0) }
        var sum = 0.0
        var exemplars: [Exemplar] = []
        let observations = [0, 3, 60].randomElement(using: &random) ?? 0
        for index in 0..<observations {
            let value = Double.random(in: -20...100, using: &random) * Double(index % 7)
            sum += value
            for place in buckets.indices where value <= buckets[place].bound { buckets[place].count += 1 }
            if index % 5 == 0 {
                let exemplar = try exemplar(value)
                exemplars.append(exemplar)
                let place = buckets.firstIndex { value <= $0.bound } ?? 0
                buckets[place].exemplar = ShownExemplar(exemplar)
                histogram.observe(value, exemplar: exemplar)
            } else {
                histogram.observe(value)
            }
        }
        return ShownHistogram(
            count: UInt64(observations),
            sum: sum.description,
            buckets: hasBounds ? buckets : [],
            native: histogram.nativeCounts,
            exemplars: histogram.nativeBuckets == nil ? [] : Set(exemplars.suffix(10).map(ShownExemplar.init))
        )
    }

    private mutating func family(_ name: String, type: String) -> ShownFamily {
        let unit = Bool.random(using: &random) ? "seconds" : nil
        return ShownFamily(name: name, help: text(), type: type, unit: unit, series: [])
    }

    private mutating func series(_ values: [String]) -> ShownFamily.Series {
        let microseconds = Int64.random(in: 1...2_000_000_000_000_000, using: &random)
        fixture.setClock(microseconds)
        let labels = zip(["a", "b"], values).map { [$0, $1] }
        return ShownFamily.Series(labels: labels, created: microseconds)
    }

    /// Values in the order of a page.
    private mutating func labelValues() -> [[String]] {
        let count = Int.random(in: 1...80, using: &random)
        let values = (0..<count).map { index in ["\(1_000 + index)", text()] }
        return values
    }

    private mutating func exemplar(_ value: Double) throws -> Exemplar {
        let time = Int64.random(in: 0...253_402_300_799_999_999, using: &random)
        return try Exemplar(labels: [("id", String(text().prefix(60)))], value: value, timestamp: time)
    }

    /// Texts of all lengths with everything that an escaping could miss.
    private mutating func text() -> String {
        let alphabet: [String] = [
            "a", "Z", "0", " ", "\"", "'", "\\", "\n", "\r", "\t", "\0", "\u{7F}", "{", "}", "é", "漢", "🦆", "\u{202E}",
            "\u{FFFD}",
        ]
        let length = [0, 1, 5, 40, 130, 400].randomElement(using: &random) ?? 0
        return (0..<length).map { _ in alphabet.randomElement(using: &random) ?? "" }.joined()
    }
}
