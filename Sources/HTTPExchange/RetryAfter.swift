// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
package enum RetryAfter {
    /// How long to wait; nil for what is neither seconds nor a date.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, for a date.
    ///   - longest: a longer pause is shortened to this.
    package static func duration(_ text: String?, now: Double, longest: Duration) -> Duration? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text).map { min(.seconds($0), longest) } ?? longest
        }
        let form = DateFormatter()
        form.locale = Locale(identifier: "en_US_POSIX")
        form.timeZone = TimeZone(secondsFromGMT: 0)
        form.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = form.date(from: text) else { return nil }
        return min(max(.seconds(date.timeIntervalSince1970 - now), .zero), longest)
    }
}
