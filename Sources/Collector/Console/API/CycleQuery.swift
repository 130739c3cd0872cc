// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import Hummingbird
internal import LedgerState
internal import LifecycleState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The query of a list of cycles (docs/console.md).
struct CycleQuery {
    static let limits = 1...200
    static let standardLimit = 50
    /// The longest value in bytes.
    private static let maximumValue = 512
    /// The most parameters.
    private static let maximumParameters = 64
    private static let names = [
        "outcome", "violation", "bucket", "reason", "platform", "version", "schedule", "installation", "stage", "lacks",
        "from", "to", "wrong", "before", "limit",
    ]

    private(set) var filter = CycleFilter()
    /// Only cycles before this number.
    private(set) var before: UInt64?
    private(set) var limit = standardLimit

    /// - Parameter key: gives the id of a schedule the form that the ledger has it in.
    init(_ request: Request, key: InstallationKey) throws(Problem) {
        let parameters = request.uri.queryParameters
        guard parameters.count <= Self.maximumParameters else {
            throw .badQuery("Expected at most \(Self.maximumParameters) parameters, found \(parameters.count).")
        }
        for (name, value) in parameters {
            guard value.utf8.count <= Self.maximumValue else {
                throw .badQuery("Expected values of at most \(Self.maximumValue) bytes, found a longer one.")
            }
            // A form sends the fields that were left empty, too.
            if !value.isEmpty { try take(String(name), String(value), key) }
        }
    }

    private mutating func take(_ name: String, _ value: String, _ key: InstallationKey) throws(Problem) {
        switch name {
        case "outcome": filter.outcomes.insert(try Self.one(of: CycleOutcome.allCases, value, name) { "\($0.name)" })
        case "violation":
            filter.violations.insert(try Self.one(of: ViolationKind.allCases, value, name) { "\($0.name)" })
        case "bucket": filter.buckets.insert(try Self.one(of: ViolationBucket.allCases, value, name) { $0.rawValue })
        case "reason": filter.reasons.insert(try Self.one(of: FailureReason.allCases, value, name) { "\($0.name)" })
        case "stage": filter.reached.insert(try Self.one(of: CycleFilter.Stage.allCases, value, name) { "\($0)" })
        case "lacks": filter.lacking.insert(try Self.one(of: CycleFilter.Stage.allCases, value, name) { "\($0)" })
        case "platform": filter.platforms.insert(value)
        case "version": filter.versions.insert(value)
        case "schedule": filter.scheduleId = Array(key.shaped(identifier: value).utf8)
        case "installation":
            guard let device = Pseudonym(hexadecimal: value)?.fingerprint ?? UInt64(hexadecimal: value) else {
                throw .badQuery(
                    "Expected installation= with the 32 hexadecimal digits of a pseudonym, or the 16 of a device."
                )
            }
            filter.installation = device
        case "from": filter.from = try Self.time(value, name)
        case "to": filter.to = try Self.time(value, name)
        case "wrong":
            guard value == "true" || value == "false" else { throw .badQuery("Expected wrong=true or wrong=false.") }
            filter.isWrongOnly = value == "true"
        case "before":
            guard let number = UInt64(value), number > 0 else {
                throw .badQuery("Expected before= with the number that the page before gave as next.")
            }
            before = number
        case "limit":
            guard let count = Int(value), Self.limits.contains(count) else {
                throw .badQuery("Expected limit= from \(Self.limits.lowerBound) to \(Self.limits.upperBound).")
            }
            limit = count
        default: throw .badQuery("Expected one of \(Self.names.joined(separator: ", ")), found another parameter.")
        }
    }

    private static func one<Value>(
        of values: [Value],
        _ text: String,
        _ parameter: String,
        name: (Value) -> String
    ) throws(Problem) -> Value {
        guard let value = values.first(where: { name($0) == text }) else {
            throw .badQuery("Expected \(parameter)= with one of \(values.map(name).joined(separator: ", ")).")
        }
        return value
    }

    private static func time(_ text: String, _ parameter: String) throws(Problem) -> Timestamp {
        let bytes = Array(text.utf8)
        guard let time = Timestamp(rfc3339: bytes.span, 0..<bytes.count) else {
            throw .badQuery("Expected \(parameter)= with a time such as 2026-11-22T06:53:00Z.")
        }
        return time
    }
}

extension Problem {
    /// - Parameter detail: what was expected; it repeats nothing of the request.
    static func badQuery(_ detail: String) -> Problem {
        Problem(status: .badRequest, type: "query", title: "The query cannot be read", detail: detail)
    }
}

extension UInt64 {
    /// Reads 16 hexadecimal digits; nil for anything else.
    fileprivate init?(hexadecimal text: some StringProtocol) {
        let hasSign = text.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        guard text.utf8.count == 16, !hasSign, let value = UInt64(text, radix: 16) else { return nil }
        self = value
    }
}

extension Pseudonym {
    /// Reads 32 hexadecimal digits; nil for anything else.
    init?(hexadecimal text: some StringProtocol) {
        guard
            text.utf8.count == 32,
            let high = UInt64(hexadecimal: text.prefix(16)), let low = UInt64(hexadecimal: text.dropFirst(16))
        else { return nil }
        self.init(high: high, low: low)
    }

    /// As 32 hexadecimal digits.
    var hexadecimal: String {
        var digits: [UInt8] = []
        appendHex(to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }
}
