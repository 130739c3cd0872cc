// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// The channels that end with the service: listeners at once, connections with what was read of them.
final class OpenChannels: Sendable {
    private struct State {
        var isClosed = false
        var channels: [ObjectIdentifier: (channel: any Channel, mode: CloseMode)] = [:]
    }

    private let state = Mutex(State())

    /// Takes a channel in; it is closed when the others have been.
    func add(_ channel: any Channel, isServer: Bool) {
        let mode: CloseMode = isServer ? .all : .input
        let isClosed = state.withLock { state in
            if !state.isClosed { state.channels[ObjectIdentifier(channel)] = (channel, mode) }
            return state.isClosed
        }
        if isClosed { channel.close(mode: mode, promise: nil) }
    }

    func remove(_ channel: any Channel) {
        state.withLock { state in _ = state.channels.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Lets nothing more be accepted or read.
    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return state.channels.values.map { $0 }
        }
        for (channel, mode) in channels { channel.close(mode: mode, promise: nil) }
    }
}
