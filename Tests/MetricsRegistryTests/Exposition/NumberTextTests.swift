// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Number text")
struct NumberTextTests {
    private func written(_ body: (inout ByteCursor) -> Void) -> String {
        var page = PageWriter(reusing: [])
        page.withRoom(ByteCursor.numberRoom, body)
        return text(page.finish())
    }

    @Test(
        "doubles are written as Prometheus reads them",
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (0.1, "0.1"), (0.1 + 0.2, "0.30000000000000004"),
            (1.5, "1.5"), (-2.25, "-2.25"), (100, "100"), (1e15, "1000000000000000"), (1e21, "1e+21"),
            (9_007_199_254_740_991, "9007199254740991"), (9_007_199_254_740_992, "9007199254740992"),
            (-9_007_199_254_740_994, "-9.007199254740994e+15"), (1e300, "1e+300"), (0.0001, "0.0001"),
            (0.00001, "1e-05"), (1_234_567.5, "1234567.5"), (.leastNonzeroMagnitude, "5e-324"),
            (-2.2250738585072014e-308, "-2.2250738585072014e-308"), (1.7976931348623157e308, "1.7976931348623157e+308"),
            (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (-.nan, "NaN"),
        ] as [(Double, String)]
    )
    func doubles(value: Double, expected: String) {
        #expect(written { $0.write(double: value) } == expected)
    }

    @Test("a written double reads back as the same double")
    func numberTextRoundTrip() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let value = Double(bitPattern: generator.next())
            if !value.isFinite { continue }
            let text = written { $0.write(double: value) }
            #expect(Double(text) == value)
        }
    }

    @Test("whole numbers are written digit by digit as the standard library does")
    func wholeNumbers() {
        var values: [UInt64] = [0, .max, .max - 1]
        var power: UInt64 = 1
        for _ in 0..<20 {
            values += [power &- 1, power, power &+ 1, power &* 3]
            power = power &* 10
        }
        var generator = SystemRandomNumberGenerator()
        for shift in 0..<64 { values.append(generator.next() >> UInt64(shift)) }
        for value in values { #expect(written { $0.write(decimal: value) } == String(value)) }
    }

    @Test("every number of four digits is split correctly into both halves")
    func numberTextDigits() {
        for value in UInt64(0)..<10_000 {
            let expected = Array(String(value + 10_000).utf8.dropFirst()).map { UInt64($0 - UInt8(ascii: "0")) }
            let word = expected.reversed().reduce(0) { $0 << 8 | $1 }
            let both = ByteCursor.eightDigits(value * 10_000 + value)
            if both != word | word << 32 {
                Issue.record("\(value) splits into \(both)")
                return
            }
        }
    }

    @Test(
        "bucket bounds are written as Go writes them",
        arguments: [
            (0.005, "0.005"), (0.1, "0.1"), (1, "1"), (2.5, "2.5"), (10, "10"), (900, "900"), (100_000, "100000"),
            (123_456, "123456"), (1_000_000, "1e+06"), (1_048_576, "1.048576e+06"), (1_234_567.5, "1.2345675e+06"),
            (0.0001, "0.0001"), (0.00025, "0.00025"), (0.00001, "1e-05"), (0.000012, "1.2e-05"), (0, "0"), (-0.0, "0"),
            (-1, "-1"), (-2_500_000, "-2.5e+06"), (1e100, "1e+100"), (.leastNonzeroMagnitude, "5e-324"),
            (.infinity, "+Inf"), (12.5, "12.5"),
            (99_999.5, "99999.5"), (9_007_199_254_740_992, "9.007199254740992e+15"),
        ] as [(Double, String)]
    )
    func numberTextBounds(bound: Double, expected: String) {
        #expect(BucketBound.text(bound) == expected)
    }

    @Test("microseconds are written as seconds with the decimals needed")
    func numberTextSeconds() {
        let texts: [(Int64, String)] = [
            (0, "0"), (1, "0.000001"), (10, "0.00001"), (999_999, "0.999999"), (1_000_000, "1"), (-1_500_000, "-1.5"),
            (1_700_000_000_100_000, "1700000000.1"), (1_700_000_000_020_300, "1700000000.0203"),
            (.max, "9223372036854.775807"), (.min, "-9223372036854.775808"),
        ]
        for (microseconds, expected) in texts { #expect(written { $0.write(seconds: microseconds) } == expected) }
    }
}
