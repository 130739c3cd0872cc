// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Collector

@Suite("The origin of a setting")
struct ProvenanceTests {
    private typealias Origin = ConfigurationProblem.Origin

    enum Layer: CaseIterable {
        case options, environment, file
    }

    /// Every way to give a setting in at least one layer, in the order of precedence.
    static let combinations: [[Layer]] = (1..<8).map { bits in
        Layer.allCases.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element)
    }

    @Test(
        "is the first layer that gives the setting, for every setting and combination of layers",
        arguments: combinations
    )
    func everySetting(layers: [Layer]) throws {
        // Neither names nor values that read like a layer's name change it.
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("[options] \(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("[environment].yml").path
        let text = "[options]"
        for setting in Settings.all {
            try Data("# the settings\n\(setting.name): '[options]'\n".utf8).write(to: URL(fileURLWithPath: path))
            var environment = ["HOME": "/home"]
            if layers.contains(.environment) { environment[setting.variable] = text }
            let reading = SettingsReader(
                options: layers.contains(.options) ? [setting.name: [text]] : [:],
                environment: environment,
                file: layers.contains(.file) ? path : nil
            ).reading()
            let expected: Origin =
                switch layers.first {
                case .options, nil: .option("--\(setting.name)")
                case .environment: .environment(setting.variable)
                case .file: .file(path, line: 2)
                }
            #expect(reading.origin(of: setting.name) == expected, "\(setting.name)")
            #expect(reading.problems.allSatisfy { $0.origin == expected }, "\(setting.name): \(reading.problems)")
        }
    }

    @Test("decides what a relative path is relative to: the file's directory, or the working directory")
    func relativePaths() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("provenance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("config.yml")
        try Data("web-config: '[options]/web.yml'\n".utf8).write(to: file)
        let working = FileManager.default.currentDirectoryPath
        let inEnvironment = ["HOME": "/home", "DNP_TELEMETRY_WEB_CONFIG": "[file]/web.yml"]
        func path(_ options: [String: [String]], _ environment: [String: String]) -> String? {
            SettingsReader(options: options, environment: environment, file: file.path).reading().configuration
                .webConfigurationFile
        }
        let inFile = path([:], ["HOME": "/home"])
        #expect(inFile == directory.appendingPathComponent("[options]/web.yml").standardizedFileURL.path)
        #expect(path([:], inEnvironment) == "\(working)/[file]/web.yml")
        #expect(path(["web-config": ["[file]/other.yml"]], inEnvironment) == "\(working)/[file]/other.yml")
    }

    @Test("of a list of the file is the line of each value")
    func listOfTheFile() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("provenance-\(UUID().uuidString).yml")
        try Data("follow:\n- /a\n- /b\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let reading = SettingsReader(environment: ["HOME": "/home"], file: file.path).reading()
        #expect(
            [0, 1].map { reading.origin(of: "follow", $0) } == [.file(file.path, line: 2), .file(file.path, line: 3)]
        )
        #expect(reading.origin(of: "listen") == .option("--listen"), "a default has the option as its origin")
    }
}
