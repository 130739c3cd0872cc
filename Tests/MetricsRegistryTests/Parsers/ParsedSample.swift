// SPDX-License-Identifier: Apache-2.0

/// A sample as an independent parser understood it.
struct ParsedSample: Decodable {
    struct Exemplar: Decodable, Equatable {
        let labels: [String: String]
        let value: String
        let timestamp: String
    }

    let name: String
    let labels: [String: String]
    /// A number in Python's writing.
    let value: String
    let exemplar: Exemplar?

    var number: Double? {
        switch value {
        case "nan": .nan
        case "inf": .infinity
        case "-inf": -.infinity
        default: Double(value)
        }
    }
}
