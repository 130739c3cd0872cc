// SPDX-License-Identifier: Apache-2.0

/// When a line says that it was written. Its year and its zone may be missing.
struct LogStamp: Hashable, Sendable {
    /// The wall clock in microseconds since 1970, as if it were in UTC. Without a year: in the leap year 2000.
    var wallMicroseconds: Int64
    /// Whether the line names the year.
    var hasYear = true
    /// How far the wall clock is east of UTC in seconds; nil where the line does not say.
    var offsetSeconds: Int32?
}
