// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport

/// A program that appends to its log and rotates it, as logging programs and logrotate do.
actor LogWriter {
    enum Rotation: CaseIterable {
        /// The file gets another name, and the program opens a new one.
        case rename
        /// The file is copied and emptied; the program pauses meanwhile, as its own rotation would.
        case copyTruncate
    }

    let path: String
    private(set) var lines = 0
    private(set) var totals = LifecycleTotals()
    private var cycle = 0
    private var handle: FileHandle

    init(path: String) throws {
        self.path = path
        handle = try Self.open(path)
    }

    private static func open(_ path: String) throws -> FileHandle {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw MissingDependency(description: "cannot write \(path): errno \(errno)") }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Appends whole cycles in pieces that end anywhere, also inside lines.
    func append(cycles count: Int, random: inout SplitMix64) throws {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            let next = LogFactory.cycle(cycle)
            cycle += 1
            lines += next.lines.count
            totals += next.totals
            for line in next.lines {
                bytes += Array(line.utf8)
                bytes.append(UInt8(ascii: "\n"))
            }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20_000, using: &random))
            try handle.write(contentsOf: Data(piece))
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Rotates, also the generations before.
    func rotate(_ rotation: Rotation) throws {
        let files = FileManager.default
        for number in stride(from: 8, to: 0, by: -1) where files.fileExists(atPath: "\(path).\(number)") {
            try files.moveItem(atPath: "\(path).\(number)", toPath: "\(path).\(number + 1)")
        }
        switch rotation {
        case .rename:
            try files.moveItem(atPath: path, toPath: "\(path).1")
            handle = try Self.open(path)
        case .copyTruncate:
            try files.copyItem(atPath: path, toPath: "\(path).1")
            try handle.truncate(atOffset: 0)
        }
    }
}

/// Makes the log of a device: cycles of twenty lines each, two of them foreign, every fifth cycle failing.
enum LogFactory {
    static let linesPerCycle = 20
    static let foreignPerCycle = 2
    private static let start = 1_735_689_600
    private static let reasons = ["NETWORK", "AUTH", "SYSTEM"]

    /// The lines of one cycle, and what the counters gain by it.
    static func cycle(_ index: Int) -> (lines: [String], totals: LifecycleTotals) {
        let id = "notif-\(index)"
        let begin = start + index * 1_200
        let due = stamp(begin + 720)
        var totals = LifecycleTotals(scheduled: 1, executed: 1)
        var lines = [
            line(begin, "FETCH", "Scheduling prefetch for notification at \(due)"),
            line(begin, "FETCH", "BGAppRefreshTask scheduled (earliestBeginDate=\(stamp(begin + 420)))"),
            line(begin, "SCHEDULER", "Scheduling notification for \(due)"),
            line(begin, "STORAGE", "Persisted schedule to DB (id=\(id), type=DAILY, time=\(due))"),
            "\(stamp(begin + 100)) com.apple.network[42]: connection \(index) is ready",
            line(begin + 540, "FETCH", "BGTask handler invoked (id=com.timesafari.dailynotification.fetch)"),
            line(begin + 541, "FETCH", "Resolved next notification needing content (time=\(due), scheduleId=\(id))"),
            line(begin + 541, "FETCH", "Starting fetch from https://api.example.test (notificationTime=\(due))"),
        ]
        if index % 5 == 4 {
            let reason = reasons[index / 5 % reasons.count]
            totals.failure[reason] = 1
            lines += [
                line(begin + 543, "FETCH", "Fetch failed (error=\(error(reason)), willRetry=false)"),
                line(begin + 543, "FETCH", "Task completed (success=false, reason=\(reason))"),
            ]
        } else {
            totals.success = 1
            totals.used = 1
            lines += [
                line(begin + 543, "FETCH", "Fetch success (status=200, bytes=1234, ttl=86400)"),
                line(begin + 543, "FETCH", "Cached content for scheduleId=\(id)"),
                line(begin + 543, "FETCH", "Task completed (success=true)"),
                line(begin + 722, "SCHEDULER", "Preparing content for notification at \(due)"),
                line(begin + 722, "FETCH", "Found cached content (age=180s, source=prefetch)"),
                line(begin + 722, "FETCH", "Using cached content for notification at \(due)"),
                line(begin + 722, "SCHEDULER", "Notification delivered (id=\(id), title=Your daily update)"),
            ]
        }
        while lines.count < linesPerCycle - 1 {
            lines.append(line(begin + 723, "SCHEDULER", "Notification built (title=Your daily update, id=\(id))"))
        }
        lines.append("\(stamp(begin + 800)) kernel: line of nobody \(index)")
        return (lines, totals)
    }

    private static func error(_ reason: String) -> String {
        switch reason {
        case "NETWORK": "NetworkError"
        case "AUTH": "AuthError"
        default: "BGTaskSchedulerErrorDomain Code=1"
        }
    }

    private static func line(_ second: Int, _ component: String, _ text: String) -> String {
        "\(stamp(second)) [DNP-\(component)] \(text)"
    }

    /// RFC 3339 of a second of 2025, from 1970 on.
    private static func stamp(_ second: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        var day = (second - start) / 86_400
        var month = 0
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while month < 11, day >= lengths[month] {
            day -= lengths[month]
            month += 1
        }
        let clock = "\(two(second / 3_600 % 24)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "2025-\(two(month + 1))-\(two(day + 1))T\(clock)Z"
    }
}
