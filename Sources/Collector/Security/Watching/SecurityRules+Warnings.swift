// SPDX-License-Identifier: Apache-2.0

extension SecurityRules {
    /// What looks like a mistake beside a configuration, and is none for certain.
    func warnings(_ configuration: ServeConfiguration) -> [ConfigurationProblem] {
        var warnings: [ConfigurationProblem] = []
        for name in configuration.tokenLimits.keys.sorted() where !tokens.names.contains(name) {
            let suggestion = NearestName.of(name, in: tokens.names).map { "; did you mean \($0)?" } ?? ""
            warnings.append(
                ConfigurationProblem(
                    .option("--token-limit"),
                    "expected the name of a token, found \"\(name.prefix(80))\"\(suggestion)"
                )
            )
        }
        if web.asksForHTTP2, let path = configuration.webConfigurationFile {
            warnings.append(ConfigurationProblem(.file(path, line: nil), "http2: HTTP/1.1 is spoken, whatever it says"))
        }
        return warnings
    }
}
