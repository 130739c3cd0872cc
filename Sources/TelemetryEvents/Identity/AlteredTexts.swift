// SPDX-License-Identifier: Apache-2.0

/// A field whose text is kept only in the shape that the field must have (docs/security.md#privacy).
///
/// Raw values are stored in the ledger's receipts.
public enum ShapedField: UInt8, CaseIterable, Sendable {
    case scheduleId = 0
    case eventId = 1
    case error = 2
    case contentHash = 3
    case scheduleHash = 4
    case platform = 5
    case appVersion = 6
    case osVersion = 7
    case deviceModel = 8

    /// The field's canonical name.
    public var name: StaticString {
        switch self {
        case .scheduleId: "scheduleId"
        case .eventId: "eventId"
        case .error: "error"
        case .contentHash: "contentHash"
        case .scheduleHash: "scheduleHash"
        case .platform: "platform"
        case .appVersion: "appVersion"
        case .osVersion: "osVersion"
        case .deviceModel: "deviceModel"
        }
    }
}

/// The fields of one event whose texts were altered.
struct AlteredFields: OptionSet, Sendable {
    var rawValue: UInt16

    static func field(_ field: ShapedField) -> AlteredFields { AlteredFields(rawValue: 1 << UInt16(field.rawValue)) }
}

/// How many texts were altered, by field: ids that became pseudonyms, and other texts that were dropped or replaced.
public struct AlteredTexts: Hashable, Sendable {
    /// By the raw value of `ShapedField`; empty while no text was altered, so that most inputs allocate nothing.
    private var counts: [UInt64] = []

    /// Counts of zero.
    public init() {}

    /// The number of altered texts of a field.
    public subscript(field: ShapedField) -> UInt64 {
        get { counts.isEmpty ? 0 : counts[Int(field.rawValue)] }
        set {
            if counts.isEmpty {
                if newValue == 0 { return }
                counts = [UInt64](repeating: 0, count: ShapedField.allCases.count)
            }
            counts[Int(field.rawValue)] = newValue
            if newValue == 0, counts.allSatisfy({ $0 == 0 }) { counts = [] }
        }
    }

    /// Whether no text was altered.
    public var isEmpty: Bool { counts.isEmpty }

    /// Adds counts.
    public static func += (left: inout AlteredTexts, right: AlteredTexts) {
        if left.counts.isEmpty {
            left = right
        } else {
            for index in right.counts.indices { left.counts[index] += right.counts[index] }
        }
    }

    @inline(never)
    mutating func add(_ fields: AlteredFields) {
        for field in ShapedField.allCases where fields.contains(.field(field)) { self[field] += 1 }
    }
}
