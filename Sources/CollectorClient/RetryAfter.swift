// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TextOutput

/// `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
    /// What is asked for beyond is not taken at its word.
    static let longest = Duration.seconds(300)

    /// Nil for what is neither.
    static func duration(_ text: String?, now: Date) -> Duration? {
        guard let text = text?.trimmed, !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return min(.seconds(Int64(text) ?? .max / 2_000_000_000), longest)
        }
        let form = DateFormatter()
        form.locale = Locale(identifier: "en_US_POSIX")
        form.timeZone = TimeZone(secondsFromGMT: 0)
        form.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = form.date(from: text) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return min(max(.seconds(seconds), .zero), longest)
    }
}
