// SPDX-License-Identifier: Apache-2.0

/// What is wrong with the files that say who may do what, found without starting anything.
struct SecurityCheck {
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []

    init(_ configuration: ServeConfiguration) {
        let (web, credentials) = (configuration.webConfigurationFile, configuration.credentialsDirectory)
        do throws(ConfigurationProblem) {
            warnings = try SecurityFiles(webConfiguration: web, credentials: credentials).warnings(configuration)
        } catch {
            problems = [error]
        }
        // The tokens are not looked at behind a web configuration that is wrong.
        guard web != nil, !problems.isEmpty else { return }
        do throws(ConfigurationProblem) {
            _ = try SecurityFiles(webConfiguration: nil, credentials: credentials)
        } catch {
            if !problems.contains(error) { problems.append(error) }
        }
    }
}
