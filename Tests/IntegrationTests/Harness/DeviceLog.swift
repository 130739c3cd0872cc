// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A program that appends to its log and rotates it, as logging programs and logrotate do.
actor LogWriter {
    enum Rotation: CaseIterable {
        /// The file gets another name, and the program opens a new one.
        case rename
        /// The file is copied and emptied; the program pauses meanwhile, as its own rotation would.
        case copyTruncate
    }

    let path: String
    private(set) var lines = 0
    private(set) var totals = LifecycleTotals()
    private var cycle = 0
    private var handle: FileHandle

    init(path: String) throws {
        self.path = path
        handle = try Self.open(path)
    }

    private static func open(_ path: String) throws -> FileHandle {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw MissingDependency(description: "cannot write \(path): errno \(errno)") }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Appends whole cycles in pieces that end anywhere, also inside lines.
    func append(cycles count: Int, random: inout SplitMix64) throws {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            let next = LogFactory.cycle(cycle)
            cycle += 1
            lines += next.lines.count
            totals += next.totals
            for line in next.lines {
                bytes += Array(line.utf8)
                bytes.append(UInt8(ascii: "\n"))
            }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20_000, using: &random))
            try handle.write(contentsOf: Data(piece))
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Rotates, also the generations before.
    func rotate(_ rotation: Rotation) throws {
        let files = FileManager.default
        for number in stride(from: 8, to: 0, by: -1) where files.fileExists(atPath: "\(path).\(number)") {
            try files.moveItem(atPath: "\(path).\(number)", toPath: "\(path).\(number + 1)")
        }
        switch rotation {
        case .rename:
            try files.moveItem(atPath: path, toPath: "\(path).1")
            handle = try Self.open(path)
        case .copyTruncate:
            try files.copyItem(atPath: path, toPath: "\(path).1")
            try handle.truncate(atOffset: 0)
        }
    }
}
