// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Collector

@Suite("What a followed file tells")
struct FollowNoticeTests {
    private static let refusal = FileProblem(description: "cannot read device.log: Permission denied")

    /// A tail that has read a file of three bytes.
    private static func reading() -> FileTail {
        var tail = FileTail(path: "/logs/device.log", position: nil, pseudonyms: SumPseudonym())
        tail.look(.file(file(1)), now: 0)
        tail.opened(file(1), mark: ContentMark())
        let seen = ReadObservation(bytes: Array("ab\n".utf8), status: file(1), mark: ContentMark())
        tail.took(seen, of: file(1).identity)
        return tail
    }

    private static func file(_ inode: UInt64) -> FileStatus {
        FileStatus(identity: FileIdentity(device: 1, inode: inode), size: 3, modified: Int64(inode))
    }

    @Test("of a rotation comes once while the new file cannot be opened")
    func refusedAfterRotation() {
        var tail = Self.reading()
        for second in 1...5 as ClosedRange<Int64> {
            tail.look(.file(Self.file(2)), now: second * 2_000_000)
            requests: while true {
                switch tail.next() {
                case .survey: tail.surveyed([])
                case .open: tail.failedToOpen(Self.refusal)
                case .deliver: break
                case .read:
                    let mark = ContentMark(head: Array("ab\n".utf8), tail: Array("ab\n".utf8))
                    tail.took(ReadObservation(bytes: [], status: Self.file(1), mark: mark), of: Self.file(1).identity)
                case .rest: break requests
                }
            }
        }
        #expect(tail.takeNotices() == [.rotated, .refused(Self.refusal)])
    }

    @Test("of a problem of the directory has an end, and the next problem a beginning")
    func directoryProblem() {
        var tail = Self.reading()
        for second in stride(from: 2, to: 6, by: 2) as StrideTo<Int64> {
            tail.look(.refused(Self.refusal), now: second * 1_000_000)
            tail.look(.refused(Self.refusal), now: second * 1_000_000 + 1)
            tail.look(.file(Self.file(1)), now: (second + 1) * 1_000_000)
        }
        #expect(tail.takeNotices() == [.refused(Self.refusal), .readable, .refused(Self.refusal), .readable])
    }
}
