// SPDX-License-Identifier: Apache-2.0

/// What is wrong with the files that say who may do what, found without starting anything.
struct SecurityCheck {
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []

    init(_ configuration: ServeConfiguration) {
        do throws(ConfigurationProblem) {
            let files = try SecurityFiles(
                webConfiguration: configuration.webConfigurationFile,
                credentials: configuration.credentialsDirectory
            )
            for name in configuration.tokenLimits.keys.sorted() where !files.rules.tokens.names.contains(name) {
                warnings.append(
                    ConfigurationProblem(
                        .option("--token-limit"),
                        "expected the name of a token, found \"\(name.prefix(80))\""
                            + (NearestName.of(name, in: files.rules.tokens.names).map { "; did you mean \($0)?" } ?? "")
                    )
                )
            }
            if files.rules.web.asksForHTTP2, let path = configuration.webConfigurationFile {
                warnings.append(
                    ConfigurationProblem(.file(path, line: nil), "http2: HTTP/1.1 is spoken, whatever it says")
                )
            }
        } catch {
            problems = [error]
        }
    }
}
