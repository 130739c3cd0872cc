// SPDX-License-Identifier: Apache-2.0

/// How many of all connections one client address may have.
package enum ConnectionShare: Hashable, Sendable {
    /// Half of them, and of the loopback all.
    case half
    /// So many, also of the loopback.
    case count(Int)
    /// All of them.
    case all
}
