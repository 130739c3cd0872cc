// SPDX-License-Identifier: Apache-2.0

/// All settings of the service; the options, the variables, the keys of the file and their documentation follow from it.
package enum Settings {
    /// In the order in which they are documented.
    package static let all = listening + storing + reading + limits + rates + times + telling

    /// By name.
    package static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

extension Settings {
    /// What a reload comes to: what runs on, what has changed, and what would need a restart.
    static func reloaded(
        _ running: ServeConfiguration,
        with read: ServeConfiguration
    ) -> (configuration: ServeConfiguration, changed: [String], waiting: [String]) {
        var configuration = running
        let different = all.filter { !$0.isEqual(running, read) }
        for setting in different where setting.isLive { setting.carry(read, &configuration) }
        return (
            configuration,
            different.filter(\.isLive).map(\.name),
            different.filter { !$0.isLive }.map(\.name)
        )
    }
}
