// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// What stands between a connection and HTTP: nothing, or TLS.
struct ConnectionSecurity: Sendable {
    /// `http`, or `https` where connections are encrypted.
    var scheme = "http"

    /// Adds handlers to the pipeline of a new connection, on its event loop, before those of HTTP and before anything is
    /// read. A connection for which it throws is closed.
    var prepare: @Sendable (any Channel) throws -> Void = { _ in }

    /// Connections are not encrypted.
    static let none = ConnectionSecurity()
}
