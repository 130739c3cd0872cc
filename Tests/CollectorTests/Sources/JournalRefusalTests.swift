// SPDX-License-Identifier: Apache-2.0

import Glibc
import Journald
import TestSupport
import Testing

@testable import Collector

@Suite("Whether a start fails for the followed journal")
struct JournalRefusalTests {
    @Test("only where it may not be read; every other reason may pass")
    func reasons() {
        for code in [EACCES, EPERM] {
            #expect(JournalReaderError.open(.machine, SystemError(code: code)).isRefusal)
        }
        #expect(JournalReaderError.permission(path: "/var/log/journal", user: 1).isRefusal)
        for code in [EIO, EMFILE, ENOMEM, ENOENT] {
            #expect(!JournalReaderError.open(.machine, SystemError(code: code)).isRefusal)
        }
        #expect(!JournalReaderError.unreadable(attempts: 2, SystemError(code: EIO)).isRefusal)
    }

    @Test("a journal that cannot be opened at the start is none")
    func absent() throws {
        let location = JournalLocation.directory(try TemporaryDirectory().file("absent"))
        #expect(throws: JournalReaderError.self) { _ = try JournalReader(location, scope: [.localOnly]) }
        #expect(FollowedJournal.refusal(location) == nil)
    }
}
