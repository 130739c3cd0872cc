// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// One gzip member (RFC 1952) of deflated pieces.
package enum GzipMember {
    /// Deflated by something unknown on something unknown, at no time.
    private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    /// A last block that is empty.
    private static let lastBlock: [UInt8] = [0x03, 0x00]
    private static let trailerBytes = 8

    package static func join(_ chunks: [DeflatedChunk]) -> [UInt8] {
        var member: [UInt8] = []
        let deflated = chunks.reduce(0) { $0 + $1.deflated.count }
        member.reserveCapacity(header.count + deflated + lastBlock.count + trailerBytes)
        member += header
        var checksum: UInt = 0
        var size = 0
        for chunk in chunks {
            member += chunk.deflated
            checksum = crc32_combine(checksum, chunk.checksum, chunk.source.count)
            size += chunk.source.count
        }
        member += lastBlock
        for word in [UInt32(truncatingIfNeeded: checksum), UInt32(truncatingIfNeeded: size)] {
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                member.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return member
    }
}
