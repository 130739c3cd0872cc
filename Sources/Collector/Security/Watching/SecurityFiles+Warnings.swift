// SPDX-License-Identifier: Apache-2.0

extension SecurityFiles {
    /// What looks like a mistake, in the files or beside a configuration, and is none for certain.
    func warnings(_ configuration: ServeConfiguration) -> [ConfigurationProblem] {
        var warnings = unknownTokens(configuration.tokenLimits.keys.sorted())
        if rules.web.asksForHTTP2, let webPath {
            warnings.append(
                ConfigurationProblem(.file(webPath, line: nil), "http2: HTTP/1.1 is spoken, whatever it says")
            )
        }
        for path in secrets where FileMode.letsEverybodyRead(path) {
            warnings.append(
                ConfigurationProblem(.file(path, line: nil), "everybody on this machine can read it; chmod o-r helps")
            )
        }
        return warnings
    }

    private func unknownTokens(_ names: [String]) -> [ConfigurationProblem] {
        names.filter { !rules.tokens.names.contains($0) }.map { name in
            let suggestion = NearestName.of(name, in: rules.tokens.names).map { "; did you mean \($0)?" } ?? ""
            return ConfigurationProblem(
                .option("--token-limit"),
                "expected the name of a token, found \"\(name.prefix(80))\"\(suggestion)"
            )
        }
    }

    /// The files that are enough to come in, or to pass for the service.
    private var secrets: [String] {
        let tokens = credentials.map { directory in
            rules.tokens.names.map { "\(directory.path)/\(TokenDirectory.prefix)\($0)" }
        }
        let key: String? =
            switch rules.web.tls?.key {
            case .file(let path)?: path
            case .inline?: webPath
            case nil: nil
            }
        return (tokens ?? []) + [key].compactMap { $0 }
    }
}
