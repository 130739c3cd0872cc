// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Collector

@Suite("Watched files")
struct DebouncedChangeTests {
    @Test("a change is taken when it has stood still for one look, and once")
    func settled() {
        var change = DebouncedChange(used: 1)
        #expect([1, 2, 3, 3, 3, 3].map { change.look($0) } == [false, false, false, true, false, false])
    }

    @Test("what changed and changed back is no change")
    func back() {
        var change = DebouncedChange(used: 1)
        #expect([2, 1, 2, 1].map { change.look($0) } == [false, false, false, false])
        change.use(2)
        #expect([2, 1, 1].map { change.look($0) } == [false, false, true])
    }

    @Test("a file's stamp changes with its content, its place and its absence, and not by itself")
    func stamps() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a")
        let missing = FileStamp(path)
        try Files.write([1], to: path)
        let first = FileStamp(path)
        #expect(first != missing)
        #expect(FileStamp(path) == first)
        try Files.write([1, 2], to: path)
        #expect(FileStamp(path) != first)
        #expect(FileStamp(directory.file("b")) == missing)
    }
}
