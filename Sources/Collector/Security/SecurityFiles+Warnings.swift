// SPDX-License-Identifier: Apache-2.0

internal import TextOutput

extension SecurityFiles {
    /// What looks like a mistake, in the files or beside a configuration, and is none for certain.
    func warnings(_ configuration: ServeConfiguration) -> [ConfigurationProblem] {
        var warnings = unknownTokens(configuration.tokenLimits.keys.sorted())
        if let credentials, !rules.needsToken, TokenDirectory.holdsOthers(credentials.path) {
            warnings.append(
                ConfigurationProblem(
                    .file(credentials.path, line: nil),
                    "expected a token in a file \(TokenDirectory.prefix)NAME, found files of other names only; events "
                        + "need no token"
                )
            )
        }
        if rules.web.asksForHTTP2, let webPath {
            warnings.append(
                ConfigurationProblem(.file(webPath, line: nil), "http2: HTTP/1.1 is spoken, whatever it says")
            )
        }
        return warnings
    }

    /// A warning of each secret that everybody can read, as those of containers often are.
    var exposures: [ConfigurationProblem] {
        secrets.filter(FileMode.letsEverybodyRead).map { path in
            ConfigurationProblem(
                .file(path, line: nil),
                "everybody on this machine can read it; set its mode (chmod o-r, or defaultMode of the secret)"
            )
        }
    }

    /// What is wrong with limits for tokens where there are none, so that nobody is held to any.
    func problem(withLimits limits: [String: Double]) -> ConfigurationProblem? {
        guard !limits.isEmpty, !rules.needsToken else { return nil }
        let place = credentials.map { " in \($0.path)" } ?? "; credentials-dir names their directory"
        return ConfigurationProblem(
            .option("--token-limit"),
            "expected tokens beside it, in files \(TokenDirectory.prefix)NAME, found none\(place)"
        )
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
