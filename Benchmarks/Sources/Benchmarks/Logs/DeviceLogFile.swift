// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A written log; its file goes with it.
final class DeviceLogFile {
    let form: DeviceLog.Form
    let path: String
    let lines: Int
    let megabytes: Double
    private let directory: String

    /// Writes whole cycles of at least so many lines.
    init(_ form: DeviceLog.Form, lines wanted: Int, in room: BenchmarkRoom) throws {
        self.form = form
        directory = try room.directory("log")
        path = "\(directory)/device.log"
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw BenchmarkFailure("\(path) cannot be written") }
        var log = DeviceLog(form)
        var written = 0
        while log.lines < wanted {
            log.appendCycle()
            guard log.bytes.count > 1 << 20 || log.lines >= wanted else { continue }
            try file.write(contentsOf: Data(log.bytes))
            written += log.bytes.count
            log.removeWrittenBytes()
        }
        try file.close()
        lines = log.lines
        megabytes = Double(written) / 1e6
    }

    deinit {
        TemporaryDirectory.remove(directory)
    }
}
