// SPDX-License-Identifier: Apache-2.0

extension LogDecoder {
    private static let stateVersion: UInt8 = 2
    /// The most bytes that the state may have; devices that were not used for longest are left out.
    private static let maximumState = 64 << 10
    private static let hashBytes = 8

    /// What a restart needs to go on in the middle of a log: streams, cycles and the events that wait. At most 64 KiB, and
    /// nothing in it that an event could not hold. A keyed hash at its end makes damage known.
    public var state: [UInt8] {
        var output: [UInt8] = [Self.stateVersion]
        output.appendVarint(zigzag: binder.assumedTime.microseconds)
        output.append(optional: binder.binding.anchor)
        output.appendVarint(binder.binding.lineCount)
        output.append(logcatHeader: parser.unwrapper.header)
        output.appendVarint(zigzag: binder.lastStamp)
        output.appendLittleEndian(binder.recent.previous)
        output.appendVarint(UInt64(binder.recent.latest.count))
        for fingerprint in binder.recent.latest { output.appendLittleEndian(fingerprint) }
        for device in binder.binding.devices.sorted(by: { $0.usedAt > $1.usedAt }) {
            var part: [UInt8] = [1]
            part.append(device)
            for stream in binder.binding.streams where stream.device == device.name {
                part.append(1)
                part.append(stream)
            }
            part.append(0)
            guard output.count + part.count + 1 + Self.hashBytes <= Self.maximumState else { break }
            output += part
        }
        output.append(0)
        output.appendLittleEndian(binder.identityKey.text(output.span, 0..<output.count))
        return output
    }

    /// Goes on where a decoder with this state was.
    ///
    /// - Parameters: as for a new decoder; the line counts begin at zero.
    /// - Throws: `LogStateError` for bytes that are no state of this version and key, or are damaged.
    public init(
        restoring state: [UInt8],
        _ options: LogDecoderOptions,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey
    ) throws(LogStateError) {
        self.init(options, pseudonyms: pseudonyms, identityKey: identityKey)
        guard state.count <= Self.maximumState else { throw LogStateError(problem: "\(state.count) bytes") }
        do throws(EventRecordError) {
            var reader = RecordReader(start: 0)
            let bytes = state.span
            guard try reader.byte(bytes) == Self.stateVersion else { throw reader.error("another version") }
            let end = state.count - Self.hashBytes
            guard end > 0, bytes.word(at: end) == identityKey.text(bytes, 0..<end) else {
                throw reader.error("damage, or another key")
            }
            binder.assumedTime = Timestamp(microseconds: try reader.zigzag(bytes))
            binder.binding.anchor = try reader.optionalTime(bytes)
            binder.binding.lineCount = try reader.varint(bytes)
            parser.unwrapper.header = try reader.logcatHeader(bytes)
            binder.lastStamp = try reader.zigzag(bytes)
            binder.recent = try reader.recentLines(bytes)
            while try reader.byte(bytes) == 1 {
                binder.binding.devices.append(try reader.device(bytes))
                while try reader.byte(bytes) == 1 {
                    guard binder.binding.streams.count < LogBinding.maximumStreams else {
                        throw reader.error("too many streams")
                    }
                    binder.binding.streams.append(try reader.stream(bytes))
                }
                guard binder.binding.devices.count <= LogBinding.maximumDevices else {
                    throw reader.error("too many devices")
                }
            }
            let names = Set(binder.binding.devices.map(\.name))
            guard names.count == binder.binding.devices.count,
                binder.binding.streams.allSatisfy({ names.contains($0.device) })
            else {
                throw reader.error("streams of other devices")
            }
            binder.binding.lastStream =
                binder.binding.streams.indices.max {
                    binder.binding.streams[$0].usedAt < binder.binding.streams[$1].usedAt
                } ?? 0
        } catch {
            throw LogStateError(problem: "\(error.problem)")
        }
    }
}
