// SPDX-License-Identifier: Apache-2.0

internal import LogInput

/// Which inputs come from one device, and in what order they are read.
///
/// Log lines name no installation, so each file is a device of its own. The rotations of a log are one device.
struct InputDevices {
    /// The indices of the inputs of each device, in the order in which they are read.
    let inputs: [[Int]]

    /// - Parameters:
    ///   - paths: the inputs as the user named them.
    ///   - joins: whether all of them come from one device, in their order.
    init(_ paths: [String], joins: Bool) {
        if joins {
            inputs = paths.isEmpty ? [] : [Array(paths.indices)]
            return
        }
        var devices: [[(input: Int, age: Int)]] = []
        var known: [String: Int] = [:]
        for (input, path) in paths.enumerated() {
            let file = LogRotation(path, among: paths) ?? LogRotation(log: path, age: 0)
            if path != InputFile.standardInput, let device = known[file.log] {
                devices[device].append((input, file.age))
            } else {
                known[file.log] = devices.count
                devices.append([(input, file.age)])
            }
        }
        inputs = devices.map { device in
            device.sorted { left, right in
                left.age == right.age ? left.input < right.input : left.age > right.age
            }.map(\.input)
        }
    }

    /// Whether there is more than one device.
    var areSeveral: Bool { inputs.count > 1 }
}
