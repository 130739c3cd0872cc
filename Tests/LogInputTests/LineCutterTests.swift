// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector
@testable import LedgerState
@testable import LogInput

@Suite("Lines as they are cut out of what is read")
struct LineCutterTests {
    static func cut(_ pieces: [[UInt8]], ends: Bool = true) -> [UInt8] {
        var cutter = LineCutter()
        var lines: [UInt8] = []
        for piece in pieces { cutter.cut(piece, into: &lines) }
        if ends { cutter.finish(into: &lines) }
        return lines
    }

    @Test("are the same however they come")
    func pieces() {
        var random = SplitMix64(1)
        for _ in 0..<200 {
            let bytes: [UInt8] = [10, 0, 65, 66, 67]
            let text: [UInt8] = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                bytes[Int.random(in: 0..<bytes.count, using: &random)]
            }
            var pieces: [[UInt8]] = []
            var rest = text[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(Self.cut(pieces) == Self.cut([text]))
        }
    }

    @Test("of a gap of NUL bytes end there, and the gap is gone")
    func gaps() {
        #expect(
            String(decoding: Self.cut([Array("one\n\0\0\0two\nth\0\0ree\n\0".utf8)]), as: UTF8.self)
                == "one\ntwo\nth\nree\n"
        )
    }

    @Test("that are too long are handed on once, still too long, in bounded memory")
    func tooLong() {
        var cutter = LineCutter()
        var lines: [UInt8] = []
        for _ in 0..<100 {
            cutter.cut([UInt8](repeating: 65, count: 10_000), into: &lines)
            #expect(cutter.held.count <= LineCutter.longestLine)
        }
        cutter.cut(Array("rest\nnext\n".utf8), into: &lines)
        #expect(lines.split(separator: UInt8(ascii: "\n")).map(\.count) == [LineCutter.longestLine, 4])
    }
}

@Suite("The name of a rotated file")
struct RotationNameTests {
    @Test(
        "is known in the forms that rotations give it",
        arguments: [
            "device.log.1", "device.log.12", "device.log-20251115", "device.log.2025-11-15T05:41",
            "device-20251115-2.log", "device.log.old", "device.log~", "device.log.bak", "device.log.20251115Z",
        ]
    )
    func generation(name: String) {
        #expect(RotationName(of: "device.log").isGeneration(name))
    }

    @Test(
        "is not given to other files",
        arguments: [
            "device.log", "device.log.1.gz", "device-errors.log", "device.logger", "device2.log", "other.log.1",
            "device-2.log", "device-10.0.0.2.log", "device-10.100.200.30.log", "device.3.log", "device.log-2",
            "device.log.1234", "device-20251399.log", "device.log.", "device.log.tmp", "1.log", "device",
            "device.log.xz",
        ]
    )
    func other(name: String) {
        #expect(!RotationName(of: "device.log").isGeneration(name))
    }

    @Test("orders generations of the same time")
    func order() {
        let name = RotationName(of: "device.log")
        #expect(name.isOlder("device.log.10", "device.log.2"))
        #expect(name.isOlder("device.log-20251114", "device.log-20251115"))
    }

    @Test("may have no ending")
    func noEnding() {
        #expect(RotationName(of: "syslog").isGeneration("syslog.1"))
        #expect(!RotationName(of: "syslog").isGeneration("syslogd"))
        #expect(RotationName(of: ".hidden").isGeneration(".hidden.1"))
    }
}

@Suite("The position in a followed file")
struct FilePositionTests {
    static func random(_ random: inout SplitMix64) -> FilePosition {
        var position = FilePosition(
            path: "/var/log/\(random.next()).log",
            identity: FileIdentity(device: random.next(), inode: random.next()),
            offset: random.next(),
            fingerprint: random.next(),
            modified: Int64(bitPattern: random.next()),
            isInsideLongLine: Bool.random(using: &random)
        )
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            position.finish(FileIdentity(device: 1, inode: random.next()), at: random.next())
        }
        return position
    }

    @Test("is read back as it was written, with the reader's state")
    func roundTrip() {
        var random = SplitMix64(1)
        for _ in 0..<100 {
            let position = Self.random(&random)
            let state = (0..<Int.random(in: 0...50, using: &random)).map { UInt8($0) }
            let bytes = position.encoded(with: state)
            let read = FilePosition.decode(bytes)
            #expect(read?.position == position)
            #expect(read?.state == state)
            #expect(position.finished.count <= FilePosition.maximumFinished)
        }
    }

    @Test("cut anywhere, or of any bytes, is none")
    func damaged() {
        var random = SplitMix64(2)
        let bytes = Self.random(&random).encoded(with: [1, 2, 3])
        for length in 0..<bytes.count { #expect(FilePosition.decode(Array(bytes[..<length])) == nil) }
        #expect(FilePosition.decode(bytes + [0]) == nil)
        for _ in 0..<20_000 {
            var broken = bytes
            broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = FilePosition.decode(broken)
        }
    }
}
