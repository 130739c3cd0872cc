// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import TestSupport
import Testing

@testable import Collector

@Suite("The configuration")
struct SettingsReaderTests {
    private func read(
        _ yaml: String? = nil,
        environment: [String: String] = [:],
        options: [String: [String]] = [:]
    ) throws -> ServeConfiguration {
        try reader(yaml, environment, options).read()
    }

    private func problems(
        _ yaml: String? = nil,
        environment: [String: String] = [:],
        options: [String: [String]] = [:]
    ) throws -> [String] {
        let reader = try reader(yaml, environment, options)
        do throws(ConfigurationProblems) {
            _ = try reader.read()
            return []
        } catch {
            let directory = reader.file.map { $0.dropLast("config.yml".count) } ?? ""
            return error.problems.map { $0.description.replacing(directory, with: "") }
        }
    }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func reader(
        _ yaml: String?,
        _ environment: [String: String],
        _ options: [String: [String]]
    ) throws -> SettingsReader {
        if let yaml { try Files.write(Array(yaml.utf8), to: directory.file("config.yml")) }
        return SettingsReader(
            options: options,
            environment: ["HOME": "/home"].merging(environment) { $1 },
            file: yaml.map { _ in directory.file("config.yml") }
        )
    }

    @Test("the configuration is that of the documented defaults where nothing is set")
    func defaults() throws {
        let configuration = try read()
        #expect(configuration.stateDirectory == "/home/.local/state/dnp-telemetry")
        let untold = ["state-dir", "credentials-dir", "timezone", "input-format", "web-config"]
        for setting in Settings.all where !untold.contains(setting.name) && !setting.standard.isEmpty {
            var other = ServeConfiguration(stateDirectory: "/elsewhere")
            try setting.apply([setting.standard], &other)
            #expect(setting.isEqual(other, configuration), "\(setting.name)")
        }
    }

    @Test("a setting is taken from options before the environment, and from that before the file")
    func layers() throws {
        let yaml = "max-body: 1KiB\nmax-scrapes: 2\nlisten:\n- :1\n- :2\nquiet: yes\n"
        let environment = [
            "DNP_TELEMETRY_MAX_BODY": "2KiB", "DNP_TELEMETRY_LISTEN": ":3,:4", "DNP_TELEMETRY_QUIET": "",
        ]
        let file = try read(yaml)
        #expect(file.maximumBody == 1_024 && file.maximumScrapes == 2 && file.isQuiet)
        #expect(
            file.listeners.map(\.endpoint) == [.address(host: "", port: 1), .address(host: "", port: 2)]
        )
        let both = try read(yaml, environment: environment)
        #expect(both.maximumBody == 2_048 && both.maximumScrapes == 2 && both.isQuiet)
        #expect(
            both.listeners.map(\.endpoint) == [.address(host: "", port: 3), .address(host: "", port: 4)]
        )
        let all = try read(yaml, environment: environment, options: ["max-body": ["3KiB"], "quiet": ["false"]])
        #expect(all.maximumBody == 3_072 && all.maximumScrapes == 2 && !all.isQuiet)
    }

    @Test("the service manager's directory may hold no token, and one that is told is asked for tokens")
    func credentials() throws {
        #expect(try read().credentialsDirectory == nil)
        let handed = ["CREDENTIALS_DIRECTORY": "/run/credentials/x"]
        #expect(
            try read(nil, environment: handed).credentialsDirectory
                == CredentialsDirectory("/run/credentials/x", mustHoldTokens: false)
        )
        #expect(
            try read("credentials-dir: /run/credentials/x\n", environment: handed).credentialsDirectory
                == CredentialsDirectory("/run/credentials/x", mustHoldTokens: true)
        )
    }

    @Test("a path that is empty is told, wherever it was to be named, and other empty variables are none")
    func emptyPaths() throws {
        let paths = Settings.all.filter(\.isPath)
        #expect(
            paths.map(\.name).sorted() == ["credentials-dir", "follow", "journal-socket", "state-dir", "web-config"]
        )
        for setting in paths {
            let expected = "expected a path, found nothing"
            let told = try problems(environment: [setting.variable: ""])
            #expect(told == ["\(setting.variable): \(expected); leave it out if none is wanted"])
            #expect(try problems(options: [setting.name: [""]]) == ["--\(setting.name): \(expected)"])
            #expect(try problems("\(setting.name): ''\n") == ["config.yml:1: \(expected)"])
        }
        let variable = SettingsReader.fileVariable
        #expect(try problems(environment: [variable: ""]).first?.hasPrefix("\(variable): expected a path") == true)
        #expect(try problems("quiet: true\n", environment: [variable: ""]) == [])
        let option = #expect(throws: ConfigurationProblems.self) {
            try SettingsReader(environment: ["HOME": "/home"], file: "").read()
        }
        #expect(option?.problems.map(\.origin) == [.option("--config")])
        #expect(try problems(environment: ["DNP_TELEMETRY_MAX_BODY": "", "DNP_TELEMETRY_LABEL": ""]) == [])
    }

    @Test("a list may be one value, and paths of the file are relative to it")
    func paths() throws {
        let configuration = try read("follow: logs/app.log\nweb-config: /etc/web.yml\n")
        #expect(configuration.followedFiles.map(\.path) == [directory.file("logs/app.log")])
        #expect(configuration.webConfigurationFile == "/etc/web.yml")
    }

    @Test("every problem is told, each with its place")
    func settingsReaderAllProblems() throws {
        let yaml = """
            max-body: 1kb
            max-boddy: 1
            listen:
              - ":1"
              - nowhere
            label: [platform, platform]
            durability:
            quiet: {}
            max-scrapes: [1]
            """
        let found = try problems(
            yaml,
            environment: ["DNP_TELEMETRY_JOURNAL": "jurnald"],
            options: ["log-level": ["loud"]]
        )
        #expect(
            found == [
                "config.yml:1: expected bytes from 1 to 64MiB, such as 32MiB, found \"1kb\"",
                "config.yml:2: unknown key \"max-boddy\"; did you mean max-body?",
                "config.yml:5: expected host:port such as 127.0.0.1:10910, unix:/path or systemd:name, found \"nowhere\"",
                "config.yml:6: found \"platform\" twice",
                "config.yml:7: durability has no value; leave the line out for the default",
                "config.yml:8: quiet: expected one value, found keys and values",
                "config.yml:9: max-scrapes: expected one value, found a list",
                "DNP_TELEMETRY_JOURNAL: expected one of journald, stdout, off, found \"jurnald\"; did you mean journald?",
                "--log-level: expected one of trace, debug, info, notice, warning, error, critical, found \"loud\"",
            ]
        )
    }

    @Test("warn is a level beside warning, and nothing else has two names")
    func warnIsALevel() throws {
        #expect(try read("log-level: warn\n").logLevel == .warning && read("log-level: warning\n").logLevel == .warning)
        #expect(try problems("log-level: warnin\n").first?.hasSuffix("did you mean warning?") == true)
    }

    @Test("a file that is missing or no mapping is told")
    func unusableFiles() throws {
        #expect(try problems("- a\n") == ["config.yml:1: expected settings as name: value, found a list"])
        let missing = SettingsReader(environment: ["HOME": "/home"], file: directory.file("none.yml"))
        #expect(throws: ConfigurationProblems.self) { try missing.read() }
    }

    @Test("a variable that looks like a setting and is none is told, but not those of Kubernetes")
    func unknownVariables() throws {
        let reader = SettingsReader(environment: [
            "DNP_TELEMETRY_MAX_BODDY": "1", "DNP_TELEMETRY_SERVICE_HOST": "10.0.0.1", "DNP_TELEMETRY_PORT": "tcp://1",
            "DNP_TELEMETRY_CONFIG": "x", "DNP_TELEMETRY_MAX_BODY": "1", "OTHER": "1",
        ])
        #expect(
            reader.variableWarnings.map(\.description) == [
                "DNP_TELEMETRY_MAX_BODDY: no setting has this variable; did you mean DNP_TELEMETRY_MAX_BODY?"
            ]
        )
    }

    @Test("token-limit names each token once")
    func tokenLimits() throws {
        #expect(try read("token-limit: [ios=500/s, a=b=30/m]\n").tokenLimits == ["ios": 500, "a=b": 0.5])
        #expect(
            try problems("token-limit: [ios=500/s, ios=1/s, x]\n") == ["config.yml:1: found \"ios\" twice"]
        )
    }

    @Test("a place is listened on once, whatever is served there")
    func listenedTwice() throws {
        let yaml =
            "listen:\n- :1\n- unix:/a mode=0600\n- :1 serve=metrics\n- unix:/a serve=metrics\n- :0\n- :0 serve=metrics\n"
        #expect(
            try problems(yaml) == [
                "config.yml:4: found :1 twice; list it once, with all that it serves",
                "config.yml:5: found unix:/a twice; list it once, with all that it serves",
            ]
        )
    }

    @Test("the bodies that are allowed fit into the bytes in flight")
    func bodiesAboveBudget() throws {
        let message = "the sum of max-body and max-decompressed-body, found"
        #expect(
            try problems("max-body: 1MiB\nmax-bytes-in-flight: 64MiB\n") == [
                "config.yml:2: expected max-bytes-in-flight of at least 65MiB, \(message) 64MiB"
            ]
        )
        #expect(
            try problems("max-decompressed-body: 256MiB\n") == [
                "config.yml:1: expected max-bytes-in-flight of at least 288MiB, \(message) 192MiB"
            ]
        )
        #expect(try problems("max-decompressed-body: 256MiB\nmax-bytes-in-flight: 288MiB\n") == [])
        #expect(try problems("max-bytes-in-flight: 1kb\nmax-decompressed-body: 256MiB\n").count == 1)
    }

    @Test("an option is judged by itself: what it does not fit to may stand in the file")
    func optionsAlone() throws {
        let options = ["max-decompressed-body": ["256MiB"], "log-level": ["loud"]]
        let reader = try reader("max-bytes-in-flight: 1GiB\nlabel: x\n", [:], options)
        #expect(reader.optionProblems.map { "\($0.origin)" } == ["--log-level"])
        let homeless = SettingsReader(environment: [:], file: "/nowhere/config.yml")
        #expect(homeless.optionProblems == [])
        #expect(SettingsReader(environment: [:]).optionProblems.map { "\($0.origin)" } == ["--state-dir"])
    }

    @Test("a reload changes what can change alive and names the rest")
    func settingsReaderReload() throws {
        let running = try read("max-body: 1KiB\nlisten: ':1'\n")
        let read = try read("max-body: 2KiB\nlisten: ':2'\nlog-level: debug\n")
        let result = Settings.reloaded(running, with: read)
        #expect(result.configuration.maximumBody == 2_048)
        #expect(result.configuration.logLevel == .debug)
        #expect(result.configuration.listeners == running.listeners)
        #expect(result.changed == ["max-body", "log-level"])
        #expect(result.waiting == ["listen"])
        let again = Settings.reloaded(result.configuration, with: read)
        #expect(again.changed.isEmpty && again.waiting == ["listen"])
    }
}

@Suite("The documented settings")
struct DocumentedSettingsTests {
    @Test("the documented settings are those of the code, in their order, with default, reload and meaning")
    func table() throws {
        let root = URL.repository
        let readme = try Files.read(root.appendingPathComponent("docs/configuration.md").path)
        let rows = String(decoding: readme, as: UTF8.self).split(separator: "\n").drop { $0 != "## Settings" }
            .drop { !$0.hasPrefix("| setting |") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        let expected = Settings.all.map { setting in
            let standard = setting.standard.isEmpty ? "" : "`\(setting.standard)`"
            return "| `\(setting.name)` | \(standard) | \(setting.help) | \(setting.isHotReloadable ? "yes" : "") |"
        }
        #expect(rows.map(String.init) == expected, "\n\(expected.joined(separator: "\n"))")
    }

    @Test("the documented settings have names that make an option, a variable and a key")
    func documentedSettingsNames() {
        for setting in Settings.all {
            #expect(setting.name.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(setting.name)")
            #expect(setting.help.hasSuffix(".") && !setting.help.contains("|"), "\(setting.name)")
        }
        #expect(Set(Settings.all.map(\.variable)).count == Settings.all.count)
    }
}
