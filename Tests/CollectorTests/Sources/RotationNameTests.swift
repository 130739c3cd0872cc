// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Collector

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
