// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One entry as `journalctl -o json` prints it.
struct JournalEntry: Sendable {
    let fields: [String: String]
    /// Fields that the entry has more than once.
    let repeated: Set<String>

    init(json: Data) throws {
        guard let object = try JSONSerialization.jsonObject(with: json) as? [String: Any] else {
            throw Journal.Unreadable(description: "not a JSON object: \(String(decoding: json, as: UTF8.self))")
        }
        var fields: [String: String] = [:]
        var repeated: Set<String> = []
        for (name, value) in object {
            switch value {
            case let text as String: fields[name] = text
            case let values as [String]:
                fields[name] = values.joined(separator: "\n")
                repeated.insert(name)
            case let bytes as [NSNumber]: fields[name] = String(decoding: bytes.map(\.uint8Value), as: UTF8.self)
            default: fields[name] = ""
            }
        }
        self.fields = fields
        self.repeated = repeated
    }

    subscript(name: String) -> String? { fields[name] }

    /// The event that the entry tells of.
    var identity: EventIdentity {
        EventIdentity(scheduleId: fields["DNP_SCHEDULE_ID"] ?? "", kind: fields["DNP_EVENT"] ?? "")
    }

    /// `MESSAGE` as JSON.
    func message() throws -> [String: Any] {
        let text = fields["MESSAGE"] ?? ""
        guard let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw Journal.Unreadable(description: "MESSAGE is not a JSON object: \(text)")
        }
        return object
    }
}
