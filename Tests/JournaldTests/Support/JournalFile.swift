// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A journal file that a test changes; the layout is that of systemd's JOURNAL_FILE_FORMAT.
struct JournalFile {
    /// Where the objects of a file have what is needed here.
    private enum Layout {
        static let incompatibleFlags = 12
        static let compact: UInt8 = 16
        static let dataObject: UInt8 = 1
        static let size = 8
        static let entries = 56
        static let payload = 64
        static let compactPayload = 72
    }

    let path: String

    /// Takes the last entry out of the index of a value: the value's object says that it has one entry less.
    ///
    /// journald raises this number last when it adds an entry to the index.
    func removeLastEntry(of assignment: String) throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        let object = try object(of: assignment, in: file)
        let entries = Self.number(at: object + Layout.entries, in: file)
        guard entries > 1 else { throw TestFailure("\(assignment) has \(entries) entries in \(path)") }
        try write(entries - 1, at: object + Layout.entries)
    }

    /// Makes a value unreadable, and with it the fields of its entries: its object gets a size that no object has.
    func damage(_ assignment: String) throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        try write(1, at: try object(of: assignment, in: file) + Layout.size)
    }

    /// Where the object of a value is.
    private func object(of assignment: String, in file: Data) throws -> Int {
        let isCompact = file[Layout.incompatibleFlags] & Layout.compact != 0
        let header = isCompact ? Layout.compactPayload : Layout.payload
        let payload = Data(assignment.utf8)
        var searched = 0..<file.count
        while let found = file.range(of: payload, in: searched) {
            searched = found.upperBound..<file.count
            let object = found.lowerBound - header
            guard object >= 0, file[object] == Layout.dataObject,
                Self.number(at: object + Layout.size, in: file) == UInt64(header + payload.count)
            else { continue }
            return object
        }
        throw TestFailure("\(path) has no object of \(assignment)")
    }

    private func write(_ number: UInt64, at offset: Int) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    private static func number(at offset: Int, in file: Data) -> UInt64 {
        (0..<8).reversed().reduce(0) { $0 << 8 | UInt64(file[offset + $1]) }
    }
}
