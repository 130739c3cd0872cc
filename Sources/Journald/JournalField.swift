// SPDX-License-Identifier: Apache-2.0

/// The name of a journal field, checked once when it is created.
///
/// journald accepts 1 to 64 of `A-Z`, `0-9` and `_`, with a letter in front, from a client (systemd.journal-fields(7),
/// `journal_field_valid`). It drops anything else silently.
public struct JournalField: Sendable {
    /// The name's bytes.
    package let bytes: [UInt8]
    /// `NAME` with a terminating zero, as libsystemd expects it.
    let terminated: [CChar]

    /// The name.
    public var name: String { String(decoding: bytes, as: UTF8.self) }

    /// A field of the given name.
    ///
    /// - Throws: ``JournalFieldError`` when journald would drop a field of this name.
    public init(name: String) throws(JournalFieldError) {
        if let error = Self.error(in: name) { throw error }
        self.init(valid: name)
    }

    /// A field to read or to match, which may be one that journald adds itself, with a leading underscore.
    ///
    /// - Throws: ``JournalFieldError`` when no entry can have a field of this name.
    public init(reading name: String) throws(JournalFieldError) {
        if let error = Self.error(in: String(name.hasPrefix("_") ? name.dropFirst() : name[...])) { throw error }
        guard name.utf8.count <= 64 else { throw .tooLong(name: name, bytes: name.utf8.count) }
        self.init(valid: name)
    }

    private init(valid name: String) {
        bytes = Array(name.utf8)
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
    /// A field named in source code; an invalid name is a programming error and traps.
    public init(stringLiteral name: StaticString) {
        let text = name.description
        precondition(Self.error(in: text) == nil, "not a journal field name")
        self.init(valid: text)
    }
}

extension JournalField: Hashable, CustomStringConvertible {
    /// Whether both are the same name.
    public static func == (left: JournalField, right: JournalField) -> Bool { left.bytes == right.bytes }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// The name.
    public var description: String { name }
}

extension JournalField {
    /// The human-readable message.
    public static let message: JournalField = "MESSAGE"
    /// A 128-bit id of the message type, 32 hexadecimal digits.
    public static let messageID: JournalField = "MESSAGE_ID"
    /// The syslog level, 0 (emergency) to 7 (debug).
    public static let priority: JournalField = "PRIORITY"
    /// The name that `journalctl -t` selects by.
    public static let syslogIdentifier: JournalField = "SYSLOG_IDENTIFIER"
    /// The name of the process that wrote the entry, at most 15 bytes, added by journald.
    public static let command = JournalField(valid: "_COMM")
    /// The host that wrote the entry, as journald knows it.
    public static let host = JournalField(valid: "_HOSTNAME")
    /// When the entry was written, in microseconds since 1970, where that is known apart from when journald got it.
    public static let sourceRealtime = JournalField(valid: "_SOURCE_REALTIME_TIMESTAMP")
}

/// Why a text is no valid name of a journal field.
///
/// journald drops such fields silently, so they are refused before anything is sent.
public enum JournalFieldError: Error, Hashable, CustomStringConvertible {
    /// The name is empty.
    case empty
    /// The name has more than 64 bytes.
    case tooLong(name: String, bytes: Int)
    /// The name starts with a digit or an underscore.
    case leadingCharacter(name: String)
    /// The name has a character other than A-Z, 0-9 and the underscore.
    case character(name: String, offset: Int)

    /// The problem and what to do about it.
    public var description: String {
        switch self {
        case .empty:
            "a journal field name was expected, an empty text was found; give it 1 to 64 of A-Z, 0-9 and _"
        case .tooLong(let name, let bytes):
            "journal field name \"\(name)\" has \(bytes) bytes where 64 are allowed; shorten it"
        case .leadingCharacter(let name):
            "journal field name \"\(name)\" starts with a digit or an underscore; start it with a letter A-Z"
        case .character(let name, let offset):
            "journal field name \"\(name)\" has a character other than A-Z, 0-9 and _ at byte \(offset); replace it"
        }
    }
}
