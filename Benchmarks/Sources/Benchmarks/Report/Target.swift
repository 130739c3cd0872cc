// SPDX-License-Identifier: Apache-2.0

/// The bound that a figure has to keep.
enum Target: Sendable {
    case atLeast(Double)
    case atMost(Double)

    func isReached(by value: Double) -> Bool {
        switch self {
        case .atLeast(let bound): value >= bound
        case .atMost(let bound): value <= bound
        }
    }

    /// How far the value goes beyond the bound, or how near it comes: 1 is just reached, more is better.
    func ratio(of value: Double) -> Double {
        switch self {
        case .atLeast(let bound): value / bound
        case .atMost(let bound): bound / value
        }
    }

    var bound: Double {
        switch self {
        case .atLeast(let bound), .atMost(let bound): bound
        }
    }

    var sign: String {
        switch self {
        case .atLeast: ">="
        case .atMost: "<="
        }
    }
}
