// SPDX-License-Identifier: Apache-2.0

/// How the lines of the background refresh are marked.
enum RefreshLog {
    /// The subsystem in Apple's unified logging.
    static let subsystem: StaticString = "com.aiq.app"
    /// The process, which writes other lines too.
    static let process: StaticString = "AIQ"
    /// The category in Apple's unified logging, the tag of logcat, and the marker in brackets.
    fileprivate static let name: StaticString = "BackgroundRefresh"

    /// The component of `subsystem:category`; nil if either is not this app's.
    static func component(_ bytes: Span<UInt8>, _ range: Range<Int>) -> LogComponent? {
        let colon = range.lowerBound + subsystem.utf8CodeUnitCount
        guard colon < range.upperBound, bytes[colon] == UInt8(ascii: ":"),
            bytes.equals(subsystem, in: range.lowerBound..<colon)
        else { return nil }
        return bytes.isRefreshName(colon + 1..<range.upperBound) ? .backgroundRefresh : nil
    }
}

extension Span<UInt8> {
    /// The first eight bytes of the marker's name.
    static var refreshHead: UInt64 { 0x756F_7267_6B63_6142 }

    /// Whether the marker's name may begin here, ignoring case.
    @inline(__always)
    func hasRefreshHead(at index: Int) -> Bool {
        paddedWord(at: index) | 0x2020_2020_2020_2020 == Self.refreshHead | 0x2020_2020_2020_2020
    }

    /// Whether a name is that of the marker, ignoring case.
    func isRefreshName(_ range: Range<Int>) -> Bool {
        equalsIgnoringCase(RefreshLog.name, in: range)
    }

    /// The marker in brackets that begins here.
    @inline(never)
    func refreshMarker(at index: Int, end: Int) -> LogMarker? {
        let close = index + 1 + RefreshLog.name.utf8CodeUnitCount
        guard close < end, self[close] == UInt8(ascii: "]"), isRefreshName(index + 1..<close) else { return nil }
        return LogMarker(component: .backgroundRefresh, start: index, end: close + 1)
    }

    /// The marker without brackets that begins a message here, `BackgroundRefresh: `.
    @inline(never)
    func unbracketedRefreshMarker(at index: Int, end: Int) -> LogMarker? {
        let close = index + RefreshLog.name.utf8CodeUnitCount
        guard close < end, self[close] == UInt8(ascii: ":"), close + 1 == end || self[close + 1] <= 0x20,
            equals(RefreshLog.name, in: index..<close)
        else { return nil }
        return LogMarker(component: .backgroundRefresh, start: index, end: close + 1)
    }

    /// The name behind the last slash of a path.
    func lastPathPart(_ path: Range<Int>) -> Range<Int> {
        var start = path.upperBound
        while start > path.lowerBound, self[start - 1] != UInt8(ascii: "/") { start -= 1 }
        return start..<path.upperBound
    }
}

extension UnwrappedLine {
    /// Notes the program that wrote the line: one named like a marker, or a process of an app.
    mutating func noteProgram(_ name: Range<Int>, _ bytes: Span<UInt8>) {
        component = bytes.component(ofProgram: name)
        if component == nil { noteProcess(name, bytes) }
    }

    /// Notes the process that wrote the line, perhaps with its library in parentheses. Of the app's process only messages
    /// of a known form are the background refresh's.
    @inline(__always)
    mutating func noteProcess(_ name: Range<Int>, _ bytes: Span<UInt8>) {
        let length = RefreshLog.process.utf8CodeUnitCount
        guard name.count >= length, bytes[name.lowerBound] == UInt8(ascii: "A") else { return }
        let process = name.lowerBound..<name.lowerBound + length
        guard bytes.equals(RefreshLog.process, in: process),
            name.count == length || bytes[process.upperBound] == UInt8(ascii: "(")
        else { return }
        component = .backgroundRefresh
        isUnmarked = true
    }
}

extension LogGrammar {
    /// Every form of the background refresh's log lines (docs/log-sources.md).
    static let refreshRules: [LogRule] = [
        LogRule("Background refresh task started", .event(.refreshStarted), .plugin, .nothing),
        LogRule("Last test was", .event(.refreshChecked), .plugin, .refresh),
        LogRule("Background refresh completed", .event(.refreshCompleted), .plugin, .refresh),
        LogRule("Background refresh task expired", .event(.refreshExpired), .plugin, .nothing),
        LogRule("Skipping refresh", .event(.refreshSkipped), .plugin, .refresh),
        LogRule("Scheduled background refresh", .event(.refreshScheduled), .plugin, .refresh),
        LogRule("Failed to schedule background refresh", .event(.refreshScheduleFailed), .plugin, .error),
        LogRule("Sent test available", .event(.refreshNotificationSent), .plugin, .nothing),
        LogRule("Skipping notification", .event(.refreshNotificationSkipped), .plugin, .refresh),
    ]
}

/// What the lines of the background refresh say.
extension LogMessageReader {
    /// How lines say why something was skipped.
    private static let reasons: [(StaticString, RefreshSkipReason)] = [
        ("user not authenticated", .notAuthenticated), ("no network connection", .noNetwork),
        ("last refresh was too recent", .tooRecent), ("not authorized", .notAuthorized),
        ("already notified", .alreadyNotified),
    ]

    /// Reads a message; false if it has no known form. A number out of its range, or without its unit because the line was
    /// cut, is not kept.
    @inline(never)
    func readRefresh(
        _ bytes: Span<UInt8>,
        _ text: Range<Int>,
        _ grammar: LogGrammar,
        into message: inout LogMessage
    ) -> Bool {
        guard let (form, rest) = grammar.match(bytes, text) else { return false }
        message = LogMessage(form)
        let remainder = bytes.trimmed(rest..<text.upperBound, alsoLeading: UInt8(ascii: ":"))
        switch form.kind {
        case .refreshChecked:
            message.itemCount = bytes.days(in: remainder)
            message.usedCached = bytes.boolean(after: "available:", in: remainder)
        case .refreshCompleted:
            message.duration = bytes.number(after: "in ", before: "s", in: remainder, RefreshLimits.duration)
            message.isSuccessful = bytes.boolean(after: "success:", in: remainder)
        case .refreshScheduled:
            let hours = bytes.number(after: "for ", before: " h", in: remainder, RefreshLimits.microhours)
            message.duration = hours.map { $0 * 3_600 }
        case .refreshScheduleFailed: message.error = remainder
        case .refreshSkipped, .refreshNotificationSkipped: readReason(bytes, remainder, &message)
        default: break
        }
        message.complete(bytes)
        return true
    }

    private func readReason(_ bytes: Span<UInt8>, _ range: Range<Int>, _ message: inout LogMessage) {
        for (words, reason) in Self.reasons where reason.kind == message.form.kind {
            let head = range.prefix(words.utf8CodeUnitCount)
            guard bytes.equalsIgnoringCase(words, in: head) else { continue }
            message.status = Int16(reason.rawValue)
            guard reason == .alreadyNotified else { return }
            message.itemCount = bytes.days(in: bytes.trimmed(head.upperBound..<range.upperBound))
            return
        }
    }
}

extension Span<UInt8> {
    /// The days that a text begins with; nil for another text, and out of range.
    fileprivate func days(in range: Range<Int>) -> Int64? {
        var cursor = LineCursor(range)
        guard let days = cursor.digits(self).map({ Int64($0) }), isUnit(" day", at: cursor.position, in: range) else {
            return nil
        }
        return RefreshLimits.days.contains(days) ? days : nil
    }

    /// The end of some words in a text, ignoring case.
    private func end(of words: StaticString, in range: Range<Int>) -> Int? {
        let length = words.utf8CodeUnitCount
        var start = range.lowerBound
        while start + length <= range.upperBound {
            if equalsIgnoringCase(words, in: start..<start + length) { return start + length }
            start += 1
        }
        return nil
    }

    /// The truth behind some words.
    fileprivate func boolean(after words: StaticString, in range: Range<Int>) -> Bool? {
        end(of: words, in: range).flatMap { boolean(trimmed($0..<range.upperBound)) }
    }

    /// The number behind some words and before its unit, in millionths; nil if out of range.
    fileprivate func number(
        after words: StaticString,
        before unit: StaticString,
        in range: Range<Int>,
        _ limits: ClosedRange<Int64>
    ) -> Int64? {
        guard let start = end(of: words, in: range) else { return nil }
        let text = extracting(0..<range.upperBound)
        var scanner = JSONScanner(position: start)
        guard text.byte(at: start)?.isDigit == true, let number = try? scanner.number(text),
            isUnit(unit, at: scanner.position, in: range)
        else { return nil }
        return number.scaled(byPowerOfTen: 6, in: limits)
    }

    private func isUnit(_ unit: StaticString, at start: Int, in range: Range<Int>) -> Bool {
        let end = start + unit.utf8CodeUnitCount
        return end <= range.upperBound && equalsIgnoringCase(unit, in: start..<end)
    }
}
