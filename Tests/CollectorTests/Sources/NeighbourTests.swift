// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Collector

@Suite("Logs beside a followed file")
struct NeighbourTests {
    @Test(
        "are not read after a rotation",
        arguments: ["device-10.0.0.2.log", "device-2.log", "device.log.7", "device-20251115.log"]
    )
    func neighbour(name: String) throws {
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

    @Test("that are followed themselves are not read, whatever their names")
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

    @Test("that are the same file under another name are refused", arguments: ["symbolic", "hard", "absent", "equal"])
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

    @Test("that become the same file are read once, with one error")
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
