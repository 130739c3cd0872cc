// SPDX-License-Identifier: Apache-2.0

/// From which to which line each process of a log has written. Two whose lifetimes cross live side by side; of two that
/// follow each other the second may be the first one started anew.
struct LogLifetimes: Sendable {
    private static let maximum = 4_096

    private struct Process: Hashable {
        var device: UInt64
        var process: UInt64
    }

    private var lines: [Process: ClosedRange<Int>] = [:]
    private var last: Process?
    private var lastLine = 0

    /// Takes in the lines of a piece before they are bound.
    mutating func add(_ messages: [ParsedMessage]) {
        for index in messages.indices where messages[index].process != 0 {
            let process = Process(device: messages[index].device, process: messages[index].process)
            if process != last {
                settle()
                last = process
                begin(process, messages[index].line)
            }
            lastLine = messages[index].line
        }
        settle()
    }

    /// Whether two different processes of a device live side by side.
    func cross(device: UInt64, _ process: UInt64, _ other: UInt64) -> Bool {
        guard process != other, let first = lines[Process(device: device, process: process)],
            let second = lines[Process(device: device, process: other)]
        else { return false }
        return first.overlaps(second)
    }

    /// Whether another process of the device lives beside this one.
    func hasCompany(device: UInt64, _ process: UInt64) -> Bool {
        guard lines.count > 1, let own = lines[Process(device: device, process: process)] else { return false }
        return lines.contains { other, range in
            other.device == device && other.process != process && range.overlaps(own)
        }
    }

    private mutating func begin(_ process: Process, _ line: Int) {
        guard lines[process] == nil else { return }
        if lines.count >= Self.maximum { lines.removeAll() }
        lines[process] = line...line
    }

    private mutating func settle() {
        guard let last, let range = lines[last] else { return }
        lines[last] = range.lowerBound...max(range.upperBound, lastLine)
    }
}
