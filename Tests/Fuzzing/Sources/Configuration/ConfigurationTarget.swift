// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Collector

/// Reads an input as a file that an operator writes: the first byte says which.
///
/// | first byte | the rest |
/// | --- | --- |
/// | `w` | a web configuration |
/// | `s` | the service's settings |
/// | `t` | a token |
/// | `h` | the hash of a password |
/// | any other | YAML |
enum ConfigurationTarget: FuzzTarget {
    /// The name that messages have; nothing is read from there.
    static let path = "web.yml"

    static func check(_ input: [UInt8]) {
        guard let kind = input.first else { return }
        let content = Array(input.dropFirst())
        switch kind {
        case UInt8(ascii: "t"): checkToken(content)
        case UInt8(ascii: "h"): checkHash(content)
        case UInt8(ascii: "s"): SettingsCheck.check(content)
        default:
            guard let text = String(validating: content, as: UTF8.self) else { return }
            let document: YAMLNode
            do throws(ConfigurationProblem) {
                document = try YAMLFile.parse(text, path)
            } catch {
                return checkProblem(error, in: content)
            }
            DocumentCheck.check(document, of: content)
            if kind == UInt8(ascii: "w") { WebConfigurationCheck.check(document, of: content) }
        }
    }

    /// A token that is taken admits itself and nothing near it.
    private static func checkToken(_ token: [UInt8]) {
        if let complaint = BearerToken.complaint(about: token) {
            guard !complaint.isEmpty else { finding("a complaint without words") }
            return
        }
        let set = TokenSet([BearerToken(name: "mine", bytes: token), BearerToken(name: "other", bytes: token + token)])
        guard set.name(of: token) == "mine" else { finding("a token that does not admit itself", token) }
        var other = token
        other[token.count / 2] ^= 1
        guard set.name(of: other) == nil, set.name(of: token.dropLast()) == nil else {
            finding("a token that admits another one", token)
        }
    }

    private static func checkHash(_ text: [UInt8]) {
        guard let text = String(validating: text, as: UTF8.self) else { return }
        do throws(BcryptHash.Flaw) {
            let hash = try BcryptHash(text)
            guard hash.text == Array(text.utf8), BcryptHash.costs.contains(hash.cost) else {
                finding("a hash that is read as another one: \(text)")
            }
            // A check takes a millisecond at the lowest cost, and a second at the highest.
            guard hash.cost == BcryptHash.costs.lowerBound else { return }
            guard !Bcrypt.verify(Array("wrong".utf8), hash) else { finding("a wrong password is right for \(text)") }
        } catch {
            guard !error.description.isEmpty else { finding("a flaw without words") }
        }
    }

    /// A problem is one line that names its place, and the place is in the file.
    static func checkProblem(_ problem: ConfigurationProblem, in content: [UInt8]) {
        let text = problem.description
        guard !problem.message.isEmpty, text.utf8.count <= 4_096 else {
            finding("a problem of \(text.utf8.count) bytes")
        }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            finding("a problem with control characters: \(text.debugDescription)")
        }
        guard case .file(_, let line?) = problem.origin else { return }
        // Behind the last line feed there may be one more, and libyaml counts CR, NEL, LS and PS as line ends, too.
        guard line >= 1, line <= content.count + 2 else {
            finding("a problem in line \(line) of \(content.count) bytes")
        }
    }
}

/// What holds of a document that was read: it is no larger than its text, and is the same once it is written and read again.
private enum DocumentCheck {
    static func check(_ document: YAMLNode, of content: [UInt8]) {
        var nodes = 0
        checkSize(document, depth: 1, &nodes)
        guard nodes <= content.count + 1 else { finding("\(nodes) values from \(content.count) bytes") }
        let written = YAMLText.written(document)
        do throws(ConfigurationProblem) {
            let again = try YAMLFile.parse(written, ConfigurationTarget.path)
            guard YAMLText.written(again) == written else {
                finding("YAML that is another one once it is written", Array(written.utf8))
            }
        } catch {
            finding("YAML that cannot be read once it is written: \(error)", Array(written.utf8))
        }
    }

    private static func checkSize(_ node: YAMLNode, depth: Int, _ nodes: inout Int) {
        nodes += 1
        guard depth <= YAMLFile.maximumDepth else { finding("a value at depth \(depth)") }
        switch node.value {
        case .empty, .scalar: break
        case .sequence(let members): for member in members { checkSize(member, depth: depth + 1, &nodes) }
        case .mapping(let entries): for entry in entries { checkSize(entry.value, depth: depth + 1, &nodes) }
        }
    }
}

/// Writes a document in flow style, with every text in quotes and every other character escaped.
enum YAMLText {
    static func written(_ node: YAMLNode) -> String {
        switch node.value {
        case .empty: "null"
        case .scalar(let text): quoted(text)
        case .sequence(let members): "[" + members.map(written).joined(separator: ", ") + "]"
        case .mapping(let entries):
            // With a question mark, since a key without one has at most 1,024 characters.
            "{" + entries.map { "? \(quoted($0.key)) : \(written($0.value))" }.joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "\"") { quoted, scalar in
            if scalar.isASCII, scalar.value >= 0x20, scalar.value != 0x7F, scalar != "\"", scalar != "\\" {
                quoted.unicodeScalars.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16)
                quoted += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            }
        } + "\""
    }
}

/// What holds of a web configuration, taken or not.
private enum WebConfigurationCheck {
    static func check(_ document: YAMLNode, of content: [UInt8]) {
        let path = ConfigurationTarget.path
        let problems = WebConfiguration.problems(of: document, path: path)
        for problem in problems { ConfigurationTarget.checkProblem(problem, in: content) }
        checkSecrets(document, problems, content)
        let web: WebConfiguration
        do throws(ConfigurationProblem) {
            web = try WebConfiguration(document, path: path)
        } catch {
            guard !problems.isEmpty else { finding("a web configuration that is refused without a problem: \(error)") }
            return
        }
        guard problems.isEmpty else { finding("a web configuration that is taken, with problems \(problems)") }
        do throws(ConfigurationProblem) {
            checkEqual(web, try WebConfiguration(YAMLFile.parse(YAMLText.written(document), path), path: path))
        } catch {
            finding("a web configuration that is refused once it is written: \(error)")
        }
        // Certificates in the file itself; others are not read here.
        guard let tls = web.tls, tls.files.isEmpty else { return }
        do throws(ConfigurationProblem) {
            _ = try TLSPolicy(tls, path: path)
        } catch {
            ConfigurationTarget.checkProblem(error, in: content)
        }
    }

    private static func checkEqual(_ web: WebConfiguration, _ again: WebConfiguration) {
        guard again.users == web.users, again.tls == web.tls, again.headers == web.headers,
            again.asksForHTTP2 == web.asksForHTTP2, again.rateLimit?.rate == web.rateLimit?.rate,
            again.rateLimit?.burst == web.rateLimit?.burst
        else { finding("a web configuration that is another one once it is written") }
        guard web.downgrade(to: again) == nil else { finding("a configuration that is weaker than itself") }
        for header in web.headers where !header.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            finding("a header that ends its line: \(header.name)")
        }
    }

    /// What stands as the hash of a user, or as a key, is in no message.
    private static func checkSecrets(_ document: YAMLNode, _ problems: [ConfigurationProblem], _ content: [UInt8]) {
        guard case .mapping(let sections) = document.value else { return }
        let input = String(decoding: content, as: UTF8.self)
        for section in sections {
            guard case .mapping(let entries) = section.value.value else { continue }
            for entry in entries where section.key == "basic_auth_users" || entry.key == "key" {
                guard case .scalar(let secret) = entry.value.value, secret.utf8.count >= 16 else { continue }
                // It may stand in the place of something else as well.
                guard input.components(separatedBy: secret).count == 2 else { continue }
                for problem in problems where problem.description.contains(secret) {
                    finding("a secret in: \(problem)")
                }
            }
        }
    }
}
