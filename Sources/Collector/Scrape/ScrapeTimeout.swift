// SPDX-License-Identifier: Apache-2.0

/// How long an answer to a scrape may take, in whole.
enum ScrapeTimeout {
    /// Prometheus tells here, in seconds, when it will give up.
    static let header = "X-Prometheus-Scrape-Timeout-Seconds"
    /// Without that: what Prometheus waits by default.
    static let `default` = Duration.seconds(10)
    /// No client is given less or more, in seconds.
    private static let bounds = 0.1...120
    /// What the network is given, in seconds, so that we give up first.
    private static let offset = 0.5

    /// The time for a client that sends such a header; one that is no positive decimal number is as good as none.
    static func of(_ value: String?) -> Duration {
        guard let value, value.utf8.count <= 32, value.utf8.allSatisfy(isDigitOrPoint), let seconds = Double(value),
            seconds > 0
        else { return `default` }
        let wanted = max(seconds - offset, seconds / 2)
        return .seconds(min(max(wanted, bounds.lowerBound), bounds.upperBound))
    }

    private static func isDigitOrPoint(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
    }
}
