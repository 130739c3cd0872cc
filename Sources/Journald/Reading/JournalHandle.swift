// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// An open `sd_journal` with its calls as Swift methods. Bound to one thread.
@safe
final class JournalHandle {
    private let journal: OpaquePointer

    init(_ location: JournalLocation, scope: JournalScope) throws(JournalReaderError) {
        var opened: OpaquePointer?
        let result =
            switch location {
            case .machine:
                unsafe sd_journal_open(&opened, scope.flags)
            case .namespace(let name):
                unsafe sd_journal_open_namespace(&opened, name, scope.flags)
            case .directory(let path):
                unsafe sd_journal_open_directory(&opened, path, scope.intersection([.system, .currentUser]).flags)
            }
        guard result >= 0, let opened = unsafe opened else { throw .open(location, SystemError(code: result)) }
        unsafe journal = opened
    }

    deinit {
        unsafe sd_journal_close(journal)
    }

    /// A descriptor that poll(2) reports readable when the journal has changed.
    ///
    /// The first call starts to watch the journal's directories and scans them again.
    func watch() throws(JournalReaderError) -> Int32 {
        try Self.check("sd_journal_get_fd", unsafe sd_journal_get_fd(journal))
    }

    func match(_ assignment: [UInt8]) throws(JournalReaderError) {
        let result = unsafe assignment.withUnsafeBytes {
            unsafe sd_journal_add_match(journal, $0.baseAddress, $0.count)
        }
        try Self.check("sd_journal_add_match", result)
    }

    func disjunction() throws(JournalReaderError) {
        try Self.check("sd_journal_add_disjunction", unsafe sd_journal_add_disjunction(journal))
    }

    func conjunction() throws(JournalReaderError) {
        try Self.check("sd_journal_add_conjunction", unsafe sd_journal_add_conjunction(journal))
    }

    func clearMatches() {
        unsafe sd_journal_flush_matches(journal)
    }

    func seekToHead() throws(JournalReaderError) {
        try Self.check("sd_journal_seek_head", unsafe sd_journal_seek_head(journal))
    }

    func seekToTail() throws(JournalReaderError) {
        try Self.check("sd_journal_seek_tail", unsafe sd_journal_seek_tail(journal))
    }

    func seek(realtime microseconds: UInt64) throws(JournalReaderError) {
        let result = unsafe sd_journal_seek_realtime_usec(journal, microseconds)
        try Self.check("sd_journal_seek_realtime_usec", result)
    }

    /// - Returns: Whether the text has the form of a cursor.
    func seek(cursor: String) throws(JournalReaderError) -> Bool {
        let result = unsafe sd_journal_seek_cursor(journal, cursor)
        guard result != -EINVAL else { return false }
        try Self.check("sd_journal_seek_cursor", result)
        return true
    }

    func isAt(cursor: String) throws(JournalReaderError) -> Bool {
        try Self.check("sd_journal_test_cursor", unsafe sd_journal_test_cursor(journal, cursor)) > 0
    }

    /// Moves by one entry; negative on an error, 0 at the end.
    func step(_ direction: JournalDirection) -> Int32 {
        switch direction {
        case .forward: unsafe sd_journal_next(journal)
        case .backward: unsafe sd_journal_previous(journal)
        }
    }

    func cursor() throws(JournalReaderError) -> String {
        var text: UnsafeMutablePointer<CChar>?
        let result = unsafe sd_journal_get_cursor(journal, &text)
        try Self.check("sd_journal_get_cursor", result)
        guard let text = unsafe text else { throw .call("sd_journal_get_cursor", SystemError(code: ENODATA)) }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }

    func setDataThreshold(_ bytes: Int) throws(JournalReaderError) {
        try Self.check("sd_journal_set_data_threshold", unsafe sd_journal_set_data_threshold(journal, bytes))
    }

    /// Passes the bytes of a field's value to a closure, without a copy.
    ///
    /// - Returns: The closure's result, or nil when the entry has no such field.
    func withValue<Result>(
        of field: JournalField,
        _ body: (borrowing RawSpan) -> Result
    ) throws(JournalReaderError) -> Result? {
        var data: UnsafeRawPointer?
        var length = 0
        let result = unsafe field.terminated.withUnsafeBufferPointer { name -> Int32 in
            guard let base = name.baseAddress else { return -EINVAL }
            return unsafe sd_journal_get_data(journal, base, &data, &length)
        }
        guard result != -ENOENT else { return nil }
        try Self.check("sd_journal_get_data", result)
        let skipped = field.bytes.count + 1
        guard let data = unsafe data, length >= skipped else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: data + skipped, count: length - skipped)
        return unsafe body(bytes.bytes)
    }

    func realtimeMicroseconds() throws(JournalReaderError) -> UInt64 {
        var time: UInt64 = 0
        try Self.check("sd_journal_get_realtime_usec", unsafe sd_journal_get_realtime_usec(journal, &time))
        return time
    }

    /// Processes changes of the journal's files, without waiting.
    func process() throws(JournalReaderError) -> JournalChange {
        Self.change(try Self.check("sd_journal_process", unsafe sd_journal_process(journal)))
    }

    func wait(microseconds: UInt64) throws(JournalReaderError) -> JournalChange {
        Self.change(try Self.check("sd_journal_wait", unsafe sd_journal_wait(journal, microseconds)))
    }

    private static func change(_ result: Int32) -> JournalChange {
        switch result {
        case Int32(SD_JOURNAL_APPEND): .appended
        case Int32(SD_JOURNAL_INVALIDATE): .filesChanged
        default: .none
        }
    }

    @discardableResult
    private static func check(_ call: String, _ result: Int32) throws(JournalReaderError) -> Int32 {
        guard result >= 0 else { throw .call(call, SystemError(code: result)) }
        return result
    }
}

/// The direction in which a reader steps through the journal.
enum JournalDirection: Sendable {
    case forward
    case backward
}
