// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import TestSupport
import Testing

@testable import Collector

@Suite("Logs beside a followed file")
struct SiblingFileTests {
    @Test(
        "logs beside a followed file are not read after a rotation",
        arguments: ["device-10.0.0.2.log", "device-2.log", "device.log.7", "device-20251115.log"]
    )
    func siblingFileNotRead(name: String) throws {
        let log = try LogDirectory()
        try log.append("other\n", to: name)
        try log.append("one\n")
        log.look()
        log.look()
        try log.append("other\n", to: name)
        try log.rename("device.log", "device.log.1")
        try log.append("two\n")
        log.settle()
        try log.append("other\n", to: name)
        log.settle()
        #expect(log.lines == ["one", "two"])
    }

    @Test("logs beside a followed file that are followed themselves are not read, whatever their names")
    func followed() throws {
        let log = try LogDirectory(others: ["device.log.2"])
        try log.append("one\n")
        log.look()
        try log.append("other\n", to: "device.log.2")
        try log.rename("device.log", "device.log.1")
        try log.append("two\n")
        log.settle()
        #expect(log.lines == ["one", "two"])
    }

    @Test(
        "logs beside a followed file that are the same file under another name are refused",
        arguments: ["symbolic", "hard", "absent", "equal"]
    )
    func twice(kind: String) throws {
        let directory = try TemporaryDirectory()
        let (first, second) = (directory.file("device.log"), directory.file("other.log"))
        var paths = [first, second]
        if kind != "absent" { try Data("one\n".utf8).write(to: URL(fileURLWithPath: first)) }
        #expect(FollowedFiles.twice(paths) == nil)
        switch kind {
        case "symbolic": try FileManager.default.createSymbolicLink(atPath: second, withDestinationPath: first)
        case "hard": try FileManager.default.linkItem(atPath: first, toPath: second)
        case "absent": paths[1] = directory.file("./device.log")
        default: paths[1] = first
        }
        let problem = try #require(FollowedFiles.twice(paths))
        #expect(problem.description.contains(paths[0]) && problem.description.contains(paths[1]))
    }

    @Test("logs beside a followed file that become the same file are read once, with one error")
    func becomeOne() throws {
        let directory = try TemporaryDirectory()
        let paths = [directory.file("device.log"), directory.file("other.log")]
        let followed = FollowedFiles(paths)
        var followers = paths.map {
            FileFollower(path: $0, position: nil, pseudonyms: SumPseudonym(), followed: followed)
        }
        try Data("one\n".utf8).write(to: URL(fileURLWithPath: paths[0]))
        try FileManager.default.linkItem(atPath: paths[0], toPath: paths[1])
        var texts = ["", ""]
        for now in 1...4 as ClosedRange<Int64> {
            for index in followers.indices {
                followers[index].look(now: now * 2_000_000)
                while let chunk = followers[index].next() {
                    texts[index] += String(decoding: chunk.lines, as: UTF8.self)
                }
            }
        }
        #expect(texts == ["one\n", ""])
        #expect(followers[0].takeNotices() == [])
        let notices = followers[1].takeNotices()
        #expect(notices.count == 1)
        #expect("\(notices)".contains("which is followed already"))
    }
}

@Suite("Histories of a followed file")
struct RotationHistoryTests {
    @Test(
        "histories of a followed file of any rotations, looks and kills lose and repeat no line",
        arguments: 1...120 as ClosedRange<UInt64>
    )
    func rotationHistoryAnyHistory(seed: UInt64) throws {
        var random = SplitMix64(seed)
        let log = try LogDirectory()
        var written: [String] = []
        var rest = ""
        /// Appends lines, the last of which may be completed later.
        func append(_ count: Int, cuts: Bool = false) throws {
            var text = rest
            for _ in 0..<count {
                let line = "\(written.count) " + String(repeating: "x", count: Int.random(in: 0...120, using: &random))
                written.append(line)
                text += line + "\n"
            }
            let kept = cuts ? Int.random(in: 0...min(10, text.count), using: &random) : 0
            rest = String(text.suffix(kept))
            try log.append(String(text.dropLast(kept)))
        }
        try append(1)
        log.look()
        for _ in 0..<40 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: try append(Int.random(in: 1...20, using: &random), cuts: true)
            case 4...6:
                log.look(after: Double.random(in: 0...1, using: &random), commits: Bool.random(using: &random))
            case 7: log.kill()
            default:
                // A generation has lines, as a rotation by size or time would see to.
                try append(1)
                for number in stride(from: 30, to: 0, by: -1) {
                    try? log.rename("device.log.\(number)", "device.log.\(number + 1)")
                }
                if seed % 3 == 0 || seed % 3 == 1 && Bool.random(using: &random) {
                    try log.copy("device.log", "device.log.1")
                    try log.truncate()
                } else {
                    try log.rename("device.log", "device.log.1")
                }
            }
        }
        try append(1)
        log.settle()
        log.kill()
        log.settle()
        #expect(log.lines.elementsEqual(written) as Bool, "\(Self.difference(log.lines, written))")
        #expect(!log.notices.contains(.lostRest))
    }

    /// Which lines are missing, come again, or are out of order.
    private static func difference(_ read: [String], _ written: [String]) -> String {
        let numbers = read.map { Int($0.prefix { $0 != " " }) ?? -1 }
        let missing = Set(0..<written.count).subtracting(numbers).sorted()
        let disorder = zip(numbers, numbers.dropFirst()).filter { $0 >= $1 }
        return "missing \(missing), \(numbers.count - Set(numbers).count) again, out of order \(disorder)"
    }
}

@Suite("The name of a rotated file")
struct RotationNameTests {
    @Test(
        "the name of a rotated file is known in the forms that rotations give it",
        arguments: [
            "device.log.1", "device.log.12", "device.log-20251115", "device.log.2025-11-15T05:41",
            "device-20251115-2.log", "device.log.old", "device.log~", "device.log.bak", "device.log.20251115Z",
        ]
    )
    func generation(name: String) {
        #expect(RotationName(of: "device.log").isGeneration(name))
    }

    @Test(
        "the name of a rotated file is not given to other files",
        arguments: [
            "device.log", "device.log.1.gz", "device-errors.log", "device.logger", "device2.log", "other.log.1",
            "device-2.log", "device-10.0.0.2.log", "device-10.100.200.30.log", "device.3.log", "device.log-2",
            "device.log.1234", "device-20251399.log", "device.log.", "device.log.tmp", "1.log", "device",
            "device.log.xz",
        ]
    )
    func other(name: String) {
        #expect(!RotationName(of: "device.log").isGeneration(name))
    }

    @Test("the name of a rotated file orders generations of the same time")
    func rotationNameOrder() {
        let name = RotationName(of: "device.log")
        #expect(name.isOlder("device.log.10", "device.log.2"))
        #expect(name.isOlder("device.log-20251114", "device.log-20251115"))
    }

    @Test("the name of a rotated file may have no ending")
    func noEnding() {
        #expect(RotationName(of: "syslog").isGeneration("syslog.1"))
        #expect(!RotationName(of: "syslog").isGeneration("syslogd"))
        #expect(RotationName(of: ".hidden").isGeneration(".hidden.1"))
    }
}
