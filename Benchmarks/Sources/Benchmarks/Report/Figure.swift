// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Numbers as a person reads them.
enum Figure {
    static func text(_ value: Double) -> String {
        switch abs(value) {
        case 10_000...: grouped(Int(value.rounded()))
        case 100...: String(format: "%.0f", value)
        case 10...: String(format: "%.1f", value)
        case 0.0005..<10: String(format: value < 0.1 ? "%.3f" : "%.2f", value)
        default: String(format: "%g", value)
        }
    }

    private static func grouped(_ number: Int) -> String {
        var digits = ""
        for (index, digit) in String(number).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { digits.append(",") }
            digits.append(digit)
        }
        return String(digits.reversed())
    }
}
