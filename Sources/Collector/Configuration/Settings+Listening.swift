// SPDX-License-Identifier: Apache-2.0

extension Settings {
    /// Where the service is reached, and who may.
    static let listening: [Setting] = [
        .list(
            "listen",
            \.listeners,
            "endpoint",
            standard: "127.0.0.1:10910",
            "Where to listen: host:port, unix:/path or systemd:name, with attributes behind spaces."
        ) { (text) throws(SettingComplaint) in
            try Listener(text)
        },
        .value(
            "metrics-path",
            \.metricsPath,
            "path",
            standard: "/metrics",
            "Path of the metrics."
        ) { (text) throws(SettingComplaint) in
            if let complaint = MetricsPath.complaint(about: text) {
                throw SettingComplaint(expected: complaint, found: text)
            }
            return text
        },
        .value(
            "web-config",
            \.webConfigurationFile,
            "file",
            standard: "",
            isPath: true,
            "File of TLS, users and headers in the form of Prometheus' exporter-toolkit, read anew when it changes.",
            path
        ),
        .value(
            "credentials-dir",
            \.credentialsDirectory,
            "dir",
            standard: "$CREDENTIALS_DIRECTORY",
            isPath: true,
            "Directory of the bearer tokens for ingest, one in each file token-NAME."
        ) { (text) throws(SettingComplaint) in
            CredentialsDirectory(try path(text), mustHoldTokens: true)
        },
        .flag("reload-endpoint", \.hasReloadEndpoint, "Answer POST /-/reload by reading the configuration anew."),
    ]

    /// A path as it is: made absolute already.
    @Sendable
    static func path(_ text: String) throws(SettingComplaint) -> String {
        guard text.utf8.allSatisfy({ $0 >= 0x20 }) else {
            throw SettingComplaint("expected a path, found several lines or control characters")
        }
        guard text.hasPrefix("/"), text.utf8.count < 4_096 else {
            throw SettingComplaint(expected: "a path", found: text)
        }
        return text
    }

    /// A path that may be told or not.
    @Sendable
    static func path(_ text: String) throws(SettingComplaint) -> String? {
        let path: String = try path(text)
        return path
    }
}
