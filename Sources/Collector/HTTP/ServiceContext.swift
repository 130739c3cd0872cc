// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import Logging
internal import NIOCore

/// What a request comes with: the connection that it came over, and the listener that accepted it.
struct ServiceContext: RequestContext {
    struct Source: RequestContextSource {
        let channel: any Channel
        let listener: Listener
        let logger: Logger
    }

    var coreContext: CoreRequestContextStorage
    let connection: any Channel
    /// The name of the token that the request came with.
    var token: String?
    let listener: Listener

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = source.channel
        listener = source.listener
    }

    /// Where the client is; nil once the connection is closed.
    var peer: SocketAddress? { connection.remoteAddress }
}
