// SPDX-License-Identifier: Apache-2.0

enum Reason: String, CaseIterable, Sendable {
    case network = "NETWORK"
    case auth = "AUTH"
    case system = "SYSTEM"
    case other = "OTHER"
}

enum Verdict: String, CaseIterable, Sendable {
    case match
    case mismatch
}

/// A closed set that takes more than a byte, so that its places are searched for.
enum Route: Hashable, CaseIterable, Sendable {
    case page(Int)
    case api

    static var allCases: [Route] { [.page(1), .page(2), .api] }

    var label: String {
        switch self {
        case .page(let number): "page-\(number)"
        case .api: "api"
        }
    }
}

/// A closed set with one member.
enum Lone: String, CaseIterable, Sendable {
    case only
}

/// A set whose list of cases leaves two out, one of them between the others.
enum Partial: String, CaseIterable, Sendable {
    case first, hidden, second, last
    static var allCases: [Partial] { [.first, .second] }
}
