// SPDX-License-Identifier: Apache-2.0

/// Why a prefetch failed: the closed label set of `dnp_prefetch_failure_total` (docs/events.md).
///
/// Raw values are stored in the ledger.
public enum FailureReason: UInt8, CaseIterable, Sendable {
    case network = 0
    case auth = 1
    case system = 2
    case other = 3

    /// The label value.
    public var name: StaticString {
        switch self {
        case .network: "NETWORK"
        case .auth: "AUTH"
        case .system: "SYSTEM"
        case .other: "OTHER"
        }
    }
}

extension FailureReason {
    /// The reason with this name, ignoring case; nil for a word outside the set.
    init?(named bytes: Span<UInt8>, _ range: Range<Int>) {
        for reason in FailureReason.allCases where bytes.equalsIgnoringCase(reason.name, in: range) {
            self = reason
            return
        }
        return nil
    }

    /// The reason implied by an HTTP status: 401 and 403 are AUTH; 0, 408, 429 and 5xx are NETWORK.
    init?(httpStatus: Int64) {
        switch httpStatus {
        case 401, 403: self = .auth
        case 0, 408, 429, 500...599: self = .network
        default: return nil
        }
    }

    /// The reason implied by the HTTP status, domain, type or code in an error text.
    init?(error bytes: Span<UInt8>, _ range: Range<Int>) {
        if let status = bytes.httpStatus(in: range), let reason = FailureReason(httpStatus: status) {
            self = reason
            return
        }
        for (word, reason) in Self.errorMarkers where bytes.containsIgnoringCase(word, in: range) {
            self = reason
            return
        }
        return nil
    }

    /// The reason implied by an HTTP status and the text of an error. Either may tell of AUTH; of two other reasons that of
    /// the status holds.
    init?(httpStatus: Int64?, error bytes: Span<UInt8>, _ range: Range<Int>) {
        let ofStatus = httpStatus.flatMap { FailureReason(httpStatus: $0) }
        let ofError = ofStatus == .auth || range.isEmpty ? nil : FailureReason(error: bytes, range)
        guard let reason = ofError == .auth ? ofError : ofStatus ?? ofError else { return nil }
        self = reason
    }

    /// Ordered by precedence: a storage or permission error may mention the network, but not vice versa, and any error
    /// may call itself an exception.
    private static let errorMarkers: [(StaticString, FailureReason)] = [
        ("autherror", .auth), ("jwt", .auth), ("unauthorized", .auth), ("unauthorised", .auth),
        ("authentication", .auth), ("forbidden", .auth), ("bad_token", .auth),
        ("token expired", .auth), ("tokenexpired", .auth), ("token_expired", .auth), ("token has expired", .auth),
        ("token is expired", .auth), ("expired token", .auth), ("expiredtoken", .auth), ("expired_token", .auth),
        ("token invalid", .auth), ("tokeninvalid", .auth), ("token_invalid", .auth), ("token is invalid", .auth),
        ("invalid token", .auth), ("invalidtoken", .auth), ("invalid_token", .auth),
        ("bgtaskscheduler", .system), ("notpermitted", .system), ("permission", .system), ("denied", .system),
        ("storage", .system), ("sqlite", .system), ("coredata", .system), ("disk", .system),
        ("background_refresh", .system), ("background refresh", .system), ("backgroundrefresh", .system),
        ("scheduling_failed", .system), ("notifications_", .system),
        ("network", .network), ("nsurlerror", .network), ("urlerror", .network), ("urlsession", .network),
        ("socket", .network), ("timeout", .network), ("timed out", .network), ("timedout", .network),
        ("connect", .network), ("econn", .network), ("broken pipe", .network), ("epipe", .network),
        ("unreach", .network), ("netdown", .network), ("netreset", .network), ("hostdown", .network),
        ("noroutetohost", .network), ("enotconn", .network), ("enotsock", .network), ("eaddr", .network),
        ("eshutdown", .network),
        ("unknownhost", .network), ("enotfound", .network), ("eai_", .network), ("getaddrinfo", .network),
        ("malformedurl", .network), ("java.net.", .network),
        ("offline", .network), ("no internet", .network), ("kcferrordomaincfnetwork", .network),
        ("nsposixerrordomain", .network), ("dns", .network), ("ssl", .network), ("tls", .network),
        ("certificate", .network), ("ioexception", .network),
        ("expired", .system), ("expiration", .system), ("exception", .system),
    ]
}

extension Span<UInt8> {
    /// The HTTP status that an error text tells: 0 or three digits behind `HTTP` or the word `status`, such as
    /// `HTTP/1.1 503`, `HTTP_503` or `failed with status code 401`.
    fileprivate func httpStatus(in range: Range<Int>) -> Int64? {
        for index in range {
            var cursor = LineCursor(index, range.upperBound)
            if consume("http", &cursor) {
                skipVersion(&cursor)
            } else {
                let isWord = index == range.lowerBound || !TextClass.isLetter(self[index - 1])
                guard isWord, consume("status", &cursor) else { continue }
            }
            if let status = status(behindNameAt: cursor) { return status }
        }
        return nil
    }

    /// The status behind its name, with words between them such as `error` or `status code`.
    private func status(behindNameAt start: LineCursor) -> Int64? {
        let words: [StaticString] = ["status", "code", "error", "exception", "response"]
        var cursor = start
        var isName = true
        while isName {
            while isSeparator(cursor.peek(self)) { cursor.position += 1 }
            isName = words.contains { consume($0, &cursor) }
        }
        let first = cursor.position
        guard let number = cursor.digits(self), number <= 999, cursor.position - first == 3 || number == 0,
            !TextClass.isLetter(cursor.peek(self))
        else { return nil }
        return Int64(number)
    }

    /// Consumes the version of HTTP.
    private func skipVersion(_ cursor: inout LineCursor) {
        guard cursor.consume(UInt8(ascii: "/"), self) else { return }
        while cursor.peek(self).isDigit || cursor.peek(self) == UInt8(ascii: ".") { cursor.position += 1 }
    }

    /// Consumes a word, ignoring case; false for another text.
    private func consume(_ word: StaticString, _ cursor: inout LineCursor) -> Bool {
        guard equalsIgnoringCase(word, in: cursor.rest.prefix(word.utf8CodeUnitCount)) else { return false }
        cursor.position += word.utf8CodeUnitCount
        return true
    }

    private func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "="),
            UInt8(ascii: "("), UInt8(ascii: "!"):
            true
        default: false
        }
    }
}

/// An error of the plugin itself: the closed label set of `dnp_plugin_errors_total` (docs/events.md).
///
/// Raw values are stored in checkpoints.
public enum PluginErrorCode: UInt8, CaseIterable, Sendable {
    case notificationsDenied = 0
    case invalidTimeFormat = 1
    case schedulingFailed = 2
    case backgroundRefreshDisabled = 3
    case taskSchedulingFailed = 4
    case other = 5

    /// The label value.
    public var name: StaticString {
        switch self {
        case .notificationsDenied: "notifications_denied"
        case .invalidTimeFormat: "invalid_time_format"
        case .schedulingFailed: "scheduling_failed"
        case .backgroundRefreshDisabled: "background_refresh_disabled"
        case .taskSchedulingFailed: "task_scheduling_failed"
        case .other: "other"
        }
    }

    /// Whether a text is one of the codes, or, where it is certain that it tells of an error, another word of their shape:
    /// small letters, digits and underscores.
    static func isNamed(by bytes: Span<UInt8>, _ text: Range<Int>, isCertain: Bool) -> Bool {
        if allCases.contains(where: { $0 != .other && bytes.equalsIgnoringCase($0.name, in: text) }) { return true }
        guard isCertain, 3...64 ~= text.count, !bytes[text.lowerBound].isDigit else { return false }
        var hasUnderscore = false
        for index in text {
            switch bytes[index] {
            case UInt8(ascii: "_"): hasUnderscore = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): break
            default: return false
            }
        }
        return hasUnderscore
    }

    /// Whether a text is a word that may be an error code outside of the closed set, in whatever letters.
    static func isWord(_ bytes: Span<UInt8>, _ text: Range<Int>) -> Bool {
        guard 3...64 ~= text.count, !bytes[text.lowerBound].isDigit else { return false }
        return text.allSatisfy { index in
            bytes[index].isLetterOrDigit || bytes[index] == UInt8(ascii: "_") || bytes[index] == UInt8(ascii: "-")
        }
    }

    /// Whether an error is the system's refusal of a task, which the plugin's guide has as code 1 and as `notPermitted`. A
    /// failed scheduling may name the domain alone.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public static func isRefusal(_ event: borrowing Event, in bytes: Span<UInt8>) -> Bool {
        let error = event.error
        if bytes.equalsIgnoringCase("BGTaskSchedulerErrorDomain Code=1", in: error) { return true }
        guard event.kind == .prefetchScheduleFailed else { return false }
        return bytes.equalsIgnoringCase("BGTaskSchedulerErrorDomain", in: error)
            || bytes.equalsIgnoringCase("notPermitted", in: error)
    }

    /// The code of an event: a denial has its own, an error of the plugin and a failed scheduling the one in its error or
    /// else `other`; nil for other kinds.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public init?(_ event: borrowing Event, in bytes: Span<UInt8>) {
        switch event.kind {
        case .notificationDenied: self = .notificationsDenied
        case .prefetchScheduleFailed, .pluginError:
            let error = event.error
            if Self.isRefusal(event, in: bytes) {
                self = event.backgroundRefresh == false ? .backgroundRefreshDisabled : .taskSchedulingFailed
            } else {
                self = Self.allCases.first { bytes.equalsIgnoringCase($0.name, in: error) } ?? .other
            }
        default: return nil
        }
    }
}
