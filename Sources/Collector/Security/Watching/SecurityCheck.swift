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
            warnings = files.warnings(configuration)
        } catch {
            problems = [error]
        }
    }
}
