// SPDX-License-Identifier: Apache-2.0

/// The rules for matches of the journal as journalctl takes them (journalctl(1)).
enum JournalMatchText {
    /// Whether this may be the name of a field, with the leading underscore of a trusted one.
    static func isField(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        guard (1...64).contains(bytes.count), !(0x30...0x39).contains(bytes[0]) else { return false }
        return bytes.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}
