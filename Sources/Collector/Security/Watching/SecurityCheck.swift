// SPDX-License-Identifier: Apache-2.0

/// What is wrong with the files that say who may do what, found without starting anything.
struct SecurityCheck {
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []

    init(_ configuration: ServeConfiguration) {
        let (web, credentials) = (configuration.webConfigurationFile, configuration.credentialsDirectory)
        do throws(ConfigurationProblem) {
            let files = try SecurityFiles(webConfiguration: web, credentials: credentials)
            problems = [files.problem(withLimits: configuration.tokenLimits)].compactMap { $0 }
            warnings = files.warnings(configuration) + files.exposures
            return
        } catch {
            problems = [error]
        }
        // The tokens are not looked at behind a web configuration that is wrong.
        guard web != nil else { return }
        do throws(ConfigurationProblem) {
            _ = try SecurityFiles(webConfiguration: nil, credentials: credentials)
        } catch {
            if !problems.contains(error) { problems.append(error) }
        }
    }
}
