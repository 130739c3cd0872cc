// SPDX-License-Identifier: Apache-2.0

/// The form of the lines of the service's own log.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, message and `key=value`.
    case text
    /// `key=value` throughout, as Prometheus and Loki read it.
    case logfmt
    /// An object a line.
    case json
}
