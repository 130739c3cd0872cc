// SPDX-License-Identifier: Apache-2.0

import Testing

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

    @Test("are read, each once", arguments: [1.0, 70])
    func read(seconds: Double) throws {
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

    @Test("after a restart are a gap, told once")
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
