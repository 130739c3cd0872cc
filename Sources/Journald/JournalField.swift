// SPDX-License-Identifier: Apache-2.0

/// The name of a journal field, checked once when it is created.
///
/// journald accepts 1 to 64 of `A-Z`, `0-9` and `_`, with a letter in front, from a client (systemd.journal-fields(7),
/// `journal_field_valid`). It drops anything else silently.
public struct JournalField: Sendable {
    /// `NAME=`, as it stands in an entry.
    let assignment: [UInt8]
    /// `NAME` with a zero behind it, as libsystemd takes it.
    let terminated: [CChar]

    /// The name as a text.
    public var name: String { String(decoding: assignment.dropLast(), as: UTF8.self) }

    /// A field of the given name.
    ///
    /// - Throws: ``JournalFieldError`` when journald would drop a field of this name.
    public init(name: String) throws(JournalFieldError) {
        if let error = Self.error(in: name) { throw error }
        self.init(valid: name)
    }

    /// A field to read or to select by: also one that journald itself adds, whose name begins with an underscore.
    ///
    /// - Throws: ``JournalFieldError`` when no entry can have a field of this name.
    public init(reading name: String) throws(JournalFieldError) {
        if let error = Self.error(in: String(name.hasPrefix("_") ? name.dropFirst() : name[...])) { throw error }
        guard name.utf8.count <= 64 else { throw .tooLong(name: name, bytes: name.utf8.count) }
        self.init(valid: name)
    }

    private init(valid name: String) {
        assignment = Array(name.utf8) + [UInt8(ascii: "=")]
        terminated = name.utf8.map { CChar(bitPattern: $0) } + [0]
    }

    private static func error(in name: String) -> JournalFieldError? {
        guard let first = name.utf8.first else { return .empty }
        guard name.utf8.count <= 64 else { return .tooLong(name: name, bytes: name.utf8.count) }
        guard first != UInt8(ascii: "_"), !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return .leadingCharacter(name: name)
        }
        for (offset, byte) in name.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                continue
            default:
                return .character(name: name, offset: offset)
            }
        }
        return nil
    }
}

extension JournalField: ExpressibleByStringLiteral {
    /// A field named in source code; a name that journald would drop is a programming error and traps.
    public init(stringLiteral name: StaticString) {
        let text = name.description
        precondition(Self.error(in: text) == nil, "not a journal field name")
        self.init(valid: text)
    }
}

extension JournalField: Hashable, CustomStringConvertible {
    /// Whether both are the same name.
    public static func == (left: JournalField, right: JournalField) -> Bool { left.assignment == right.assignment }

    /// Mixes the name in.
    public func hash(into hasher: inout Hasher) { hasher.combine(assignment) }

    /// The name as a text.
    public var description: String { name }
}

extension JournalField {
    /// The text that people read.
    public static let message: JournalField = "MESSAGE"
    /// A 128-bit id of the kind of message, 32 hexadecimal digits.
    public static let messageID: JournalField = "MESSAGE_ID"
    /// The syslog level, 0 (emergency) to 7 (debug).
    public static let priority: JournalField = "PRIORITY"
    /// The name that `journalctl -t` selects by.
    public static let syslogIdentifier: JournalField = "SYSLOG_IDENTIFIER"
    /// The name of the process that wrote the entry, as the kernel knows it (15 bytes at most); journald adds it.
    public static let command = JournalField(valid: "_COMM")
    /// When the entry was written, in microseconds since 1970, where that is known and not when journald took it.
    public static let sourceRealtime = JournalField(valid: "_SOURCE_REALTIME_TIMESTAMP")
}
