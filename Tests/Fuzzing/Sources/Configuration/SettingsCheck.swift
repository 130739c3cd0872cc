// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Collector

/// Reads an input as the service's settings: with problems that say where they are, or to settings that are the same once
/// they are written as the console shows them and read again.
enum SettingsCheck {
    static func check(_ content: [UInt8]) {
        let scratch = Scratch.directory.appending(path: "settings.yml")
        let reading = read(content, scratch)
        guard reading.problems.isEmpty else {
            for problem in reading.problems { ConfigurationTarget.checkProblem(problem, in: content) }
            return
        }
        for problem in reading.conflicts { ConfigurationTarget.checkProblem(problem, in: content) }
        let shown = EffectiveSettings(reading).yaml
        let again = read(Array(shown.utf8), scratch)
        guard again.problems.isEmpty else {
            finding("settings that are shown and cannot be read: \(again.problems)", Array(shown.utf8))
        }
        for (name, texts) in reading.texts where again.texts[name] != texts {
            finding("\(name) is shown as \(again.texts[name] ?? []), and is \(texts)", Array(shown.utf8))
        }
        guard again.conflicts.map(\.message) == reading.conflicts.map(\.message) else {
            finding("settings that conflict only once they are shown", Array(shown.utf8))
        }
    }

    private static func read(_ content: [UInt8], _ file: URL) -> SettingsReading {
        do {
            try Data(content).write(to: file)
        } catch {
            fatalError("cannot write \(file.path): \(error)")
        }
        return SettingsReader(environment: ["STATE_DIRECTORY": "/nowhere"], file: file.path).reading()
    }
}
