// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPTypes
internal import Synchronization

/// What every answer says of the server: its name, the time, and the headers of the web configuration.
struct ServerHeaders: Sendable {
    private static let name = "dnp-telemetry"

    let rules: LiveSecurityRules

    func put(on fields: inout HTTPFields) {
        fields[.date] = Self.date()
        fields[.server] = Self.name
        for header in rules.current.web.headers {
            if let name = HTTPField.Name(header.name) { fields[name] = header.value }
        }
    }
}

extension ServerHeaders {
    private static let last = Mutex((second: time_t(-1), text: ""))

    /// The time as an IMF-fixdate (RFC 9110, 5.6.7), made once a second.
    static func date(at second: time_t = time(nil)) -> String {
        last.withLock { last in
            if last.second != second { last = (second, text(second)) }
            return last.text
        }
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func text(_ second: time_t) -> String {
        var second = second
        var parts = unsafe tm()
        unsafe gmtime_r(&second, &parts)
        let (day, month) = unsafe (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
        let date = unsafe "\(two(parts.tm_mday)) \(month) \(1_900 + parts.tm_year)"
        let clock = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(day), \(date) \(clock) GMT"
    }

    private static func two(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
