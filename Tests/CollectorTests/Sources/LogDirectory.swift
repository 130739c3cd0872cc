// SPDX-License-Identifier: Apache-2.0

import Foundation
import TelemetryEvents
import TestSupport

@testable import Collector

/// A directory with a log that is written and rotated, and one that follows it.
final class LogDirectory {
    let directory: TemporaryDirectory
    let path: String
    private(set) var follower: FileFollower
    private(set) var lines: [String] = []
    /// How many of the lines are committed.
    private var committed = 0
    private(set) var notices: [FileTail.Notice] = []
    /// What a service would have committed.
    private(set) var saved: FilePosition?
    private var now: Int64 = 0
    private var times: Int = 0

    private let followed: FollowedFiles

    /// - Parameter others: what else is followed in the directory, by name.
    init(others: [String] = []) throws {
        directory = try TemporaryDirectory()
        path = directory.file("device.log")
        followed = FollowedFiles([path] + others.map { [directory] in directory.file($0) })
        follower = FileFollower(path: path, position: nil, pseudonyms: SumPseudonym(), followed: followed)
    }

    func file(_ name: String) -> String { directory.file(name) }

    /// Appends text, as a writer that has opened the file for appending.
    func append(_ text: String, to name: String = "device.log") throws {
        let path = file(name)
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try touch(name)
    }

    /// Gives a file a time of its own, later than that of all before it.
    func touch(_ name: String) throws {
        times += 1
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_763_185_000 + Double(times))],
            ofItemAtPath: file(name)
        )
    }

    func rename(_ old: String, _ new: String) throws {
        try? FileManager.default.removeItem(atPath: file(new))
        try FileManager.default.moveItem(atPath: file(old), toPath: file(new))
    }

    func copy(_ old: String, _ new: String) throws {
        try? FileManager.default.removeItem(atPath: file(new))
        try FileManager.default.copyItem(atPath: file(old), toPath: file(new))
        try touch(new)
    }

    func truncate(_ name: String = "device.log") throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file(name)))
        try handle.truncate(atOffset: 0)
        try handle.close()
        try touch(name)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

    /// Looks once, some seconds later, and takes what is there.
    func look(after seconds: Double = 0.1, commits: Bool = true) {
        now += Int64(seconds * 1e6)
        follower.look(now: now)
        while let chunk = follower.next() {
            lines += String(decoding: chunk.lines, as: UTF8.self).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            .dropLast().map(String.init)
            if commits {
                saved = chunk.position
                committed = lines.count
            }
        }
        notices += follower.takeNotices()
    }

    /// Looks until what lingers has been given up.
    func settle() {
        for _ in 0..<4 { look(after: 1.1) }
    }

    /// Begins anew at what was committed, as after a kill; what was not is gone.
    func kill() {
        lines.removeLast(lines.count - committed)
        restart()
    }

    /// Begins anew at what was committed.
    func restart() {
        follower = FileFollower(path: path, position: saved, pseudonyms: SumPseudonym(), followed: followed)
    }
}

/// A plain hash in place of the keyed one.
struct SumPseudonym: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        return Pseudonym(high: hash, low: 0)
    }
}
