// SPDX-License-Identifier: Apache-2.0

extension WebConfiguration {
    /// What is wrong with a document, section by section and user by user, where reading it all stops at the first problem.
    static func problems(of document: YAMLNode, path: String) -> [ConfigurationProblem] {
        guard case .mapping(let entries) = document.value else { return problem(of: document, path).map { [$0] } ?? [] }
        let pieces = entries.flatMap(pieces)
        let found = pieces.compactMap { problem(of: YAMLNode(value: .mapping([$0]), line: $0.line), path) }
        return found.isEmpty ? problem(of: document, path).map { [$0] } ?? [] : found
    }

    /// Each user by itself; every other section whole.
    private static func pieces(of entry: YAMLNode.Entry) -> [YAMLNode.Entry] {
        guard entry.key == "basic_auth_users", case .mapping(let users) = entry.value.value else { return [entry] }
        return users.map { user in
            var piece = entry
            piece.value.value = .mapping([user])
            return piece
        }
    }

    private static func problem(of document: YAMLNode, _ path: String) -> ConfigurationProblem? {
        do throws(ConfigurationProblem) {
            _ = try WebConfiguration(document, path: path)
            return nil
        } catch {
            return error
        }
    }
}
