// SPDX-License-Identifier: Apache-2.0

extension Settings {
    /// What is taken at most.
    static let limits: [Setting] = [
        .size("max-body", \.maximumBody, standard: "32MiB", 1...64 << 20, "Largest body of a request, as sent."),
        .size(
            "max-decompressed-body",
            \.maximumDecompressedBody,
            standard: "64MiB",
            1...256 << 20,
            "Largest body of a request once decompressed."
        ),
        .count(
            "max-compression-ratio",
            \.maximumCompressionRatio,
            standard: "200",
            2...10_000,
            "How many times larger than its gzip form a body of more than 1 MiB may be."
        ),
        .size(
            "max-bytes-in-flight",
            \.maximumBytesInFlight,
            standard: "192MiB",
            1 << 20...16 << 30,
            "Bytes of all bodies that are worked on at once; at least max-body and max-decompressed-body together."
        ),
        .size(
            "max-backlog",
            \.maximumBacklog,
            standard: "64MiB",
            1 << 20...16 << 30,
            "Bytes that may wait for the ledger."
        ),
        .count(
            "max-connections",
            \.maximumConnections,
            standard: "1024",
            1...1_000_000,
            "Connections that are served at once; more wait."
        ),
        .value(
            "max-connections-per-client",
            \.maximumConnectionsPerClient,
            "count",
            standard: "half",
            isLive: true,
            "Connections of one client address that are served at once: half of all (any on the loopback), a number or off.",
            SettingText.share
        ),
        .count(
            "max-scrapes",
            \.maximumScrapes,
            standard: "100",
            1...10_000,
            "Scrapes that are answered at once; more are refused."
        ),
    ]

    /// How much in which time.
    static let rates: [Setting] = [
        .value(
            "client-rate",
            \.clientRate,
            "rate",
            standard: "off",
            isLive: true,
            "Requests of one client address that are answered, such as 50/s."
        ) { (text) throws(SettingComplaint) in
            try SettingText.unlessOff(text, SettingText.rate)
        },
        .tokenLimit,
    ]
}

extension Setting {
    fileprivate static func size(
        _ name: String,
        _ place: Place<Int>,
        standard: String,
        _ range: ClosedRange<Int>,
        _ help: String
    ) -> Setting {
        .value(name, place, "bytes", standard: standard, isLive: true, help) { (text) throws(SettingComplaint) in
            try SettingText.size(text, range)
        }
    }

    fileprivate static func count(
        _ name: String,
        _ place: Place<Int>,
        standard: String,
        _ range: ClosedRange<Int>,
        _ help: String
    ) -> Setting {
        .value(name, place, "count", standard: standard, isLive: true, help) { (text) throws(SettingComplaint) in
            try SettingText.count(text, range)
        }
    }

    /// Limits of tokens, by name.
    fileprivate static let tokenLimit = Setting(
        name: "token-limit",
        form: .list,
        placeholder: "name=rate",
        standard: "",
        help: "Events that are taken with a token, such as ios=500/s; others have no limit of their own.",
        isLive: true,
        isPath: false,
        apply: { texts, configuration throws(SettingComplaint) in
            var limits: [String: Double] = [:]
            _ = try values(texts) { (text) throws(SettingComplaint) in
                guard let equals = text.lastIndex(of: "="), equals > text.startIndex else {
                    throw SettingComplaint(expected: "a token's name and its rate, such as ios=500/s", found: text)
                }
                let name = String(text[..<equals])
                guard limits[name] == nil else { throw SettingComplaint("found \"\(name.prefix(80))\" twice") }
                limits[name] = try SettingText.rate(String(text[text.index(after: equals)...]))
                return name
            }
            configuration.tokenLimits = limits
        },
        isEqual: { $0.tokenLimits == $1.tokenLimits },
        carry: { $1.tokenLimits = $0.tokenLimits }
    )
}
