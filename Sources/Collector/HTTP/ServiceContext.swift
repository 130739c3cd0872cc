// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

/// What a request comes with: the connection that it came over.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let connection: any Channel
    /// The name of the token that the request came with.
    var token: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = source.channel
    }
}
