// SPDX-License-Identifier: Apache-2.0

/// Why a text can't be the name of a journal field.
///
/// journald drops such fields without telling the sender, so they are refused before anything is sent.
public enum JournalFieldError: Error, Hashable, CustomStringConvertible {
    /// The name has no characters.
    case empty
    /// The name has more than 64 bytes.
    case tooLong(name: String, bytes: Int)
    /// The name starts with a digit or an underscore.
    case leadingCharacter(name: String)
    /// The name holds something other than A-Z, 0-9 and the underscore.
    case character(name: String, offset: Int)

    /// What was expected, what was found and what to do.
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
