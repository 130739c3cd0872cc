// SPDX-License-Identifier: Apache-2.0

internal import LogInput

/// What an input is, by its first bytes.
enum InputForm: Equatable, Sendable {
    /// One JSON document.
    case document
    /// An event a line, as long as lines begin like objects.
    case events
    /// Lines of a log.
    case log

    /// By how many bytes it is decided at the latest.
    static let mostBytes = 64 << 10

    /// Nil while it takes more bytes to tell.
    init?(_ bytes: [UInt8], isWhole: Bool) {
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = text.drop(while: Self.isBlank)
        let isEnough = isWhole || bytes.count >= Self.mostBytes
        guard let first = text.first else {
            if !isEnough { return nil }
            self = .log
            return
        }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            self = .log
            return
        }
        if !isEnough {
            guard text.contains(UInt8(ascii: "\n")), text.dropFirst().contains(where: { !Self.isBlank($0) }) else {
                return nil
            }
        }
        if JSONDocuments.begins(bytes[...], isWhole: isWhole) {
            self = .document
        } else if first == UInt8(ascii: "{"), !Self.isLogRecord(text.prefix { $0 != UInt8(ascii: "\n") }) {
            self = .events
        } else {
            self = .log
        }
    }

    /// Whether an object is a line of `log --style ndjson` or `journalctl -o json` by the names that each of them has.
    private static func isLogRecord(_ line: ArraySlice<UInt8>) -> Bool {
        let names = ["\"eventMessage\"", "\"__REALTIME_TIMESTAMP\"", "\"MESSAGE\""].map { Array($0.utf8) }
        var rest = line
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[quote...]
            if names.contains(where: { rest.starts(with: $0) }) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }
}
