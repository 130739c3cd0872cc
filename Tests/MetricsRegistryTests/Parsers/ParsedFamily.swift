// SPDX-License-Identifier: Apache-2.0

/// A family as an independent parser understood it.
struct ParsedFamily: Decodable {
    let name: String
    let type: String
    let unit: String
    let help: String
    let samples: [ParsedSample]
}
