// SPDX-License-Identifier: Apache-2.0

internal import Gzip
internal import TelemetryEvents
internal import TextOutput

/// The bytes of an input, decompressed where it is gzip.
package struct InputBytes: ~Copyable {
    private let file: InputFile
    private var gzip: GzipStream?
    private var head: [UInt8] = []
    private var headOffset = 0
    /// Converts the text where it is UTF-16.
    private var utf16: UTF16Text?
    private var isEncodingKnown = false
    /// What was converted, and how much of it was read.
    private var converted: [UInt8] = []
    private var convertedOffset = 0
    /// The bytes read of the file, before decompression.
    package private(set) var consumed = 0
    /// The bytes of content.
    private var produced = 0
    private let limits: InputLimits?

    /// Reads the first bytes and detects gzip and unsupported formats by them.
    ///
    /// - Parameter limits: what reading may take; nil where the user names the file and can end it.
    package init(_ file: consuming InputFile, limits: InputLimits? = nil) throws(InputError) {
        self.file = file
        self.limits = limits
        var head = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        while count < 6 {
            let read = try Self.read(self.file, into: &head, from: count)
            if read == 0 { break }
            count += read
        }
        consumed = count
        head.removeSubrange(count...)
        if head.starts(with: [0x1F, 0x8B]) {
            do throws(GzipError) {
                var stream = try GzipStream()
                unsafe head.withUnsafeBytes { unsafe stream.prime($0) }
                gzip = consume stream
            } catch {
                throw InputError(input: self.file.name, problem: Self.sentence(for: error))
            }
        } else if let problem = Self.foreignFormat(head) {
            throw InputError(input: self.file.name, problem: problem)
        } else {
            self.head = head
        }
    }

    package var name: String { file.name }
    package var isCompressed: Bool { gzip != nil }

    /// Waits for bytes of an uncompressed input, or its end; false after the timeout.
    package func wait(milliseconds: Int32) -> Bool {
        headOffset < head.count || convertedOffset < converted.count || file.wait(milliseconds: milliseconds)
    }

    /// Fills the buffer from `start` on; returns the number of bytes, 0 at the end.
    package mutating func read(into buffer: inout [UInt8], from start: Int) throws(InputError) -> Int {
        if !isEncodingKnown {
            let count = try readAsStored(into: &buffer, from: start)
            isEncodingKnown = true
            utf16 = UTF16Text(detectedIn: buffer[start..<start + count])
            if utf16 == nil { return count }
            utf16?.append(buffer[start..<start + count], to: &converted)
        }
        guard utf16 != nil else { return try readAsStored(into: &buffer, from: start) }
        while convertedOffset == converted.count {
            converted.removeAll(keepingCapacity: true)
            convertedOffset = 0
            var stored = [UInt8](repeating: 0, count: 1 << 16)
            let count = try readAsStored(into: &stored, from: 0)
            if count == 0 { return 0 }
            utf16?.append(stored[..<count], to: &converted)
        }
        let count = min(converted.count - convertedOffset, buffer.count - start)
        buffer.replaceSubrange(start..<start + count, with: converted[convertedOffset..<convertedOffset + count])
        convertedOffset += count
        return count
    }

    /// The same of the text in its own encoding, within the limits.
    private mutating func readAsStored(into buffer: inout [UInt8], from start: Int) throws(InputError) -> Int {
        let count = try readContent(into: &buffer, from: start)
        produced += count
        try limits?.check(produced: produced, of: isCompressed ? consumed : nil, named: file.name)
        return count
    }

    private mutating func readContent(into buffer: inout [UInt8], from start: Int) throws(InputError) -> Int {
        if headOffset < head.count {
            let count = min(head.count - headOffset, buffer.count - start)
            for index in 0..<count { buffer[start + index] = head[headOffset + index] }
            headOffset += count
            return count
        }
        guard gzip != nil else {
            let count = try Self.read(file, into: &buffer, from: start)
            consumed += count
            return count
        }
        return try inflate(into: &buffer, from: start)
    }

    private mutating func inflate(into buffer: inout [UInt8], from start: Int) throws(InputError) -> Int {
        var problem: InputError?
        var taken = 0
        let result: Result<Int, GzipError> = unsafe buffer.withUnsafeMutableBytes { bytes in
            do throws(InputError) {
                return unsafe try gzip?.read(into: .init(rebasing: bytes[start...])) {
                    target throws(InputError) in
                    let count = unsafe try file.read(into: target)
                    taken += count
                    return count
                } ?? .success(0)
            } catch {
                problem = error
                return .success(0)
            }
        }
        consumed += taken
        if let problem { throw problem }
        switch result {
        case .success(let count): return count
        case .failure(let error): throw InputError(input: file.name, problem: Self.sentence(for: error))
        }
    }

    private static func read(
        _ file: borrowing InputFile,
        into buffer: inout [UInt8],
        from start: Int
    ) throws(InputError) -> Int {
        var problem: InputError?
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            do throws(InputError) {
                return unsafe try file.read(into: .init(rebasing: bytes[start...]))
            } catch {
                problem = error
                return 0
            }
        }
        if let problem { throw problem }
        return count
    }

    private static func sentence(for error: GzipError) -> String {
        switch error {
        case .truncated: "its gzip ends before the content does; copy the file again"
        case .outOfMemory: "there is no memory to decompress it"
        case .damaged, .tooLarge, .suspiciousRatio: "its gzip is damaged; copy the file again"
        }
    }

    /// What to do about a file in an unsupported format, known by its first bytes.
    private static func foreignFormat(_ head: [UInt8]) -> String? {
        let formats: [([UInt8], String)] = [
            ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed with zstd; pipe `zstd -dc` into `-`"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "it is compressed with xz; pipe `xz -dc` into `-`"),
            ([0x42, 0x5A, 0x68], "it is compressed with bzip2; pipe `bzip2 -dc` into `-`"),
            ([0x50, 0x4B, 0x03, 0x04], "it is a zip archive; pipe `unzip -p` into `-`"),
            (Array("LPKSHHRH".utf8), "it is a file of the journal; pipe `journalctl -o json --file` into `-`"),
        ]
        return formats.first { head.starts(with: $0.0) }?.1
    }
}

/// The progress of reading all inputs.
package struct InputProgress: Hashable, Sendable {
    /// The bytes read of all inputs, before decompression.
    package var bytes = 0
    /// The size of all inputs; nil where one of them is no regular file.
    package var totalBytes: Int?
    /// The lines read.
    package var lines: UInt64 = 0

    package init(bytes: Int = 0, totalBytes: Int? = nil, lines: UInt64 = 0) {
        self.bytes = bytes
        self.totalBytes = totalBytes
        self.lines = lines
    }

    /// A line for the terminal: percent where it is known, lines, and lines per second.
    package func line(elapsedSeconds: Double) -> String {
        var parts: [String] = []
        if let totalBytes, totalBytes > 0 { parts.append("\(min(bytes, totalBytes) * 100 / totalBytes) %") }
        parts.append("\(lines.grouped) lines")
        if elapsedSeconds > 0 { parts.append("\(UInt64(Double(lines) / elapsedSeconds).grouped) lines/s") }
        return parts.joined(separator: ", ")
    }
}
