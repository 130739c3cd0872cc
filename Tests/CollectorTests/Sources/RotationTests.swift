// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Collector

@Suite("A followed file")
struct RotationTests {
    @Test("a followed file is read line by line as it grows")
    func growing() throws {
        let log = try LogDirectory()
        log.look()
        #expect(log.lines == [])
        try log.append("one\ntwo\nthr")
        log.look()
        #expect(log.lines == ["one", "two"])
        try log.append("ee\n")
        log.look()
        log.look()
        #expect(log.lines == ["one", "two", "three"])
        #expect(log.follower.tail.lag(behind: log.saved) == 0)
        #expect(log.follower.tail.lag(behind: nil) == 14)
        #expect(log.notices == [])
    }

    @Test("a followed file goes on at its position after a restart, without a line twice")
    func rotationRestart() throws {
        let log = try LogDirectory()
        try log.append("one\ntwo\nhal")
        log.look()
        log.restart()
        log.look()
        try log.append("f\nlast\n")
        log.look()
        #expect(log.lines == ["one", "two", "half", "last"])
        #expect(log.notices == [])
    }

    @Test("a followed file renamed away is read to its end before the new one", arguments: [false, true])
    func renamed(restarts: Bool) throws {
        let log = try LogDirectory()
        try log.append("one\n")
        log.look()
        try log.append("two\ncut off")
        try log.rename("device.log", "device.log.1")
        if restarts { log.restart() }
        log.look()
        try log.append("three\n")
        log.settle()
        #expect(log.lines == ["one", "two", "cut off", "three"])
        #expect(!log.notices.contains(.lostRest))
        log.restart()
        log.settle()
        #expect(log.lines.count == 4)
    }

    @Test("a followed file renamed away is read on while its writer has not opened the new one")
    func lateWriter() throws {
        let log = try LogDirectory()
        try log.append("one\n")
        log.look()
        try log.rename("device.log", "device.log.1")
        try log.append("")
        log.settle()
        try log.append("two\n", to: "device.log.1")
        log.settle()
        #expect(log.lines == ["one", "two"])
        try log.append("four\n")
        log.look()
        try log.append("three\n", to: "device.log.1")
        log.settle()
        #expect(log.lines == ["one", "two", "three", "four"])
    }

    @Test("a followed file rotated several times between two looks loses no generation", arguments: [false, true])
    func severalGenerations(restarts: Bool) throws {
        let log = try LogDirectory()
        try log.append("old\n")
        try log.rename("device.log", "device.log.1")
        try log.append("one\n")
        log.look()
        try log.append("two\n")
        for text in ["three\n", "four\n", "five\n"] {
            for number in stride(from: 4, to: 0, by: -1) {
                try? log.rename("device.log.\(number)", "device.log.\(number + 1)")
            }
            try log.rename("device.log", "device.log.1")
            try log.append(text)
        }
        if restarts { log.restart() }
        log.settle()
        #expect(log.lines == ["one", "two", "three", "four", "five"])
        #expect(!log.notices.contains(.lostRest))
    }

    @Test("a followed file rotated again and again while it is looked at keeps generations that are deleted at once")
    func deletedGenerations() throws {
        let log = try LogDirectory()
        for number in 0..<6 {
            try log.append("\(number)\n")
            log.look()
            try log.rename("device.log", "device.log.1")
            try log.remove("device.log.1")
        }
        log.settle()
        #expect(log.lines == ["0", "1", "2", "3", "4", "5"])
    }

    @Test(
        "a followed file truncated after a copy has its rest read from the copy",
        arguments: [false, true],
        [8, 2_000]
    )
    func copyTruncate(restarts: Bool, firstLine: Int) throws {
        let log = try LogDirectory()
        let first = String(repeating: "x", count: firstLine)
        try log.append(first + "\n")
        log.look()
        try log.append("two\ncut off")
        log.look(commits: false)
        log.restart()
        let before = log.lines.count
        try log.copy("device.log", "device.log.1")
        try log.truncate()
        if restarts { log.restart() }
        try log.append("three\n")
        log.settle()
        #expect(Array(log.lines[before...]) == ["two", "cut off", "three"])
        #expect(!log.notices.contains(.lostRest))
    }

    @Test("a followed file truncated and written anew beyond the old end is noticed")
    func rewritten() throws {
        let log = try LogDirectory()
        try log.append("one\n")
        log.look()
        try log.copy("device.log", "device.log.1")
        try log.truncate()
        try log.append("two and much more than was there before\nthree\n")
        log.look()
        #expect(log.lines == ["one", "two and much more than was there before", "three"])
        #expect(log.notices.contains(.truncated))
        #expect(!log.notices.contains(.lostRest))
    }

    @Test("a followed file truncated twice between two looks loses no generation", arguments: [false, true])
    func copyTruncateTwice(restarts: Bool) throws {
        let log = try LogDirectory()
        try log.append(String(repeating: "x", count: 300) + "\n")
        log.look()
        try log.append("two\n")
        for text in ["three\n", "four\n"] {
            try? log.rename("device.log.1", "device.log.2")
            try log.copy("device.log", "device.log.1")
            try log.truncate()
            try log.append(text)
        }
        if restarts { log.restart() }
        log.settle()
        #expect(Array(log.lines.dropFirst()) == ["two", "three", "four"])
    }

    @Test("a followed file truncated without a copy begins anew, and what was held of a line is taken")
    func truncatedOnly() throws {
        let log = try LogDirectory()
        try log.append("one\ncut")
        log.look()
        try log.truncate()
        log.look()
        try log.append("two\n")
        log.settle()
        #expect(log.lines == ["one", "cut", "two"])
        #expect(log.notices == [.truncated])
    }

    @Test("a followed file that comes late or is away for a while is waited for")
    func rotationAbsent() throws {
        let log = try LogDirectory()
        log.settle()
        try log.append("one\n")
        log.settle()
        try log.remove("device.log")
        log.settle()
        log.restart()
        log.settle()
        try log.append("two\n")
        log.settle()
        #expect(log.lines == ["one", "two"])
    }

    @Test("a followed file replaced by a longer copy of itself is read on, not again")
    func rotationReplaced() throws {
        let log = try LogDirectory()
        try log.append(String(repeating: "x", count: 300) + "\ncut")
        log.look()
        try log.copy("device.log", "fresh")
        try log.append(" off\ntwo\n", to: "fresh")
        try log.rename("fresh", "device.log")
        log.settle()
        #expect(Array(log.lines.dropFirst()) == ["cut off", "two"])
        log.restart()
        log.settle()
        #expect(log.lines.count == 3)
    }

    @Test("a followed file renamed in another way is read with those renamed like it", arguments: [false, true])
    func renamedOtherwise(restarts: Bool) throws {
        let log = try LogDirectory()
        try log.append("other\n", to: "device.7.log")
        try log.append("one\n")
        log.look()
        try log.append("two\n")
        try log.rename("device.log", "device.0.log")
        try log.append("three\n")
        try log.rename("device.log", "device.1.log")
        try log.append("other\n", to: "device.errors.2.log")
        try log.append("four\n")
        if restarts { log.restart() }
        log.settle()
        #expect(log.lines == ["one", "two", "three", "four"])
        #expect(!log.notices.contains(.lostRest))
    }

    @Test("a followed file of another name beside it is left alone")
    func neighbours() throws {
        let log = try LogDirectory()
        try log.append("one\n")
        log.look()
        try log.append("other\n", to: "device-errors.log")
        try log.append("other\n", to: "device.log.1.gz")
        try log.append("other\n", to: "device.logger")
        try log.rename("device.log", "device.log.1")
        try log.append("two\n")
        log.settle()
        #expect(log.lines == ["one", "two"])
    }

    @Test("a followed file that was read before is not read again when its old generations are touched")
    func touched() throws {
        let log = try LogDirectory()
        for number in 0..<4 {
            try log.append("\(number)\n")
            log.settle()
            for old in stride(from: 4, to: 0, by: -1) {
                try? log.rename("device.log.\(old)", "device.log.\(old + 1)")
            }
            try log.rename("device.log", "device.log.1")
        }
        for old in 1...3 { try log.touch("device.log.\(old)") }
        log.restart()
        try log.append("last\n")
        log.settle()
        #expect(log.lines == ["0", "1", "2", "3", "last"])
    }

    @Test("a followed file that is no regular file is refused once, and followed when it is one")
    func rotationRefused() throws {
        let log = try LogDirectory()
        try FileManager.default.createDirectory(atPath: log.path, withIntermediateDirectories: false)
        log.settle()
        #expect(log.notices.count == 1)
        #expect("\(log.notices)".contains("it is a directory; name a file in it"))
        try log.remove("device.log")
        try log.append("one\n")
        log.settle()
        #expect(log.lines == ["one"])
        #expect(log.notices.last == .readable)
    }
}

@Suite("Lines that are written late to a rotated file")
struct LateLinesTests {
    private static func rotated() throws -> LogDirectory {
        let log = try LogDirectory()
        try log.append("one\n")
        log.look()
        try log.rename("device.log", "device.log.1")
        try log.append("two\n")
        log.settle()
        return log
    }

    @Test("lines written late to a rotated file are read, each once", arguments: [1.0, 70])
    func lateLinesRead(seconds: Double) throws {
        let log = try Self.rotated()
        log.look(after: seconds)
        try log.append("late\nla", to: "device.log.1")
        log.settle()
        try log.append("ter\n", to: "device.log.1")
        log.settle()
        try log.rename("device.log.1", "device.log.2")
        try log.rename("device.log", "device.log.1")
        try log.append("three\n")
        log.settle()
        try log.append("last\n", to: "device.log.1")
        log.settle()
        log.restart()
        log.settle()
        #expect(log.lines == ["one", "two", "late", "later", "three", "last"])
        #expect(!log.notices.contains(.grown) && !log.notices.contains(.lostRest))
    }

    @Test("lines written late to a rotated file after a restart are a gap, told once")
    func gap() throws {
        let log = try Self.rotated()
        log.restart()
        log.settle()
        try log.append("lost\n", to: "device.log.1")
        log.look(after: 61)
        log.look(after: 61)
        log.look(after: 61)
        #expect(log.lines == ["one", "two"])
        #expect(log.notices.filter { $0 == .grown }.count == 1)
    }
}
