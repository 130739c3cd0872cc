// SPDX-License-Identifier: Apache-2.0

extension LogDecoder {
    /// What a restart needs to resume in the middle of a log: streams, cycles and waiting events. At most 64 KiB,
    /// its texts in their shapes like events', with a keyed hash at the end that detects damage.
    public var state: [UInt8] {
        var state = LogStateWriter()
        state.append(binder.assumedTime)
        state.append(optional: binder.binding.anchor)
        state.append(count: binder.binding.lineCount)
        state.append(parser.unwrapper.header)
        state.append(parser.carried)
        state.append(number: binder.lastStamp)
        state.append(binder.recent)
        for device in binder.binding.devices.sorted(by: { $0.usedAt > $1.usedAt }) {
            guard state.append(device, binder.binding.streams.filter { $0.device == device.name }) else { break }
        }
        state.finish(binder.identityKey)
        return state.bytes
    }

    /// Resumes from a saved state.
    ///
    /// - Parameters: as for a new decoder; line counts restart at zero.
    ///
    /// - Throws: `LogStateError` if the state is damaged, or of another version or key.
    public init(
        restoring state: [UInt8],
        _ options: LogDecoderOptions,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey
    ) throws(LogStateError) {
        self.init(options, pseudonyms: pseudonyms, identityKey: identityKey)
        guard state.count <= LogStateWriter.maximumBytes else { throw LogStateError(problem: "\(state.count) bytes") }
        do throws(EventRecordError) {
            let bytes = state.span
            var reader = try LogStateReader(bytes, pseudonyms: pseudonyms, identityKey: identityKey)
            binder.assumedTime = try reader.time(bytes)
            binder.binding.anchor = try reader.optionalTime(bytes)
            binder.binding.lineCount = try reader.count(bytes)
            parser.unwrapper.header = try reader.lineHeader(bytes)
            parser.carried = try reader.carriedCycles(bytes)
            binder.lastStamp = try reader.number(bytes)
            binder.recent = try reader.recentLines(bytes)
            (binder.binding.devices, binder.binding.streams) = try reader.devices(bytes)
            if !reader.version.hasInstallations {
                binder.decideInstallations(hasSources: reader.version == .undecidedInstallations)
            }
            isOfAnonymousSource = reader.version == .anonymousSources
            binder.binding.lastStream =
                binder.binding.streams.indices.max {
                    binder.binding.streams[$0].usedAt < binder.binding.streams[$1].usedAt
                } ?? 0
        } catch {
            throw LogStateError(problem: "\(error.problem)")
        }
    }
}

/// The saved state of a log decoder is unreadable.
public struct LogStateError: Error, Sendable, CustomStringConvertible {
    /// What is wrong with the state.
    public let problem: String

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected the saved state of a log's decoder, found \(problem); the log is read on without it, so that lines may bind "
            + "to new cycles"
    }
}

extension LogStream {
    /// What stands beside its phase in a state: whether its last lines came back to a delivered cycle, and the app whose run
    /// the last line began, plus one.
    static let backInDelivered: UInt8 = 1 << 7
    static let begunRunShift: UInt8 = 5
    static let phaseMask: UInt8 = 1 << begunRunShift - 1

    /// Its phase and what stands beside it.
    var progress: UInt8 {
        let begun = begunRun.map { $0.rawValue + 1 } ?? 0
        return phase.rawValue | begun << Self.begunRunShift | (isBackInDelivered ? Self.backInDelivered : 0)
    }
}
