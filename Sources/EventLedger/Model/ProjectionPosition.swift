// SPDX-License-Identifier: Apache-2.0

/// How far a projection has come, as it was last recorded.
public struct ProjectionPosition: Sendable, Equatable {
    /// The projection's name.
    public let projection: String
    /// Everything up to here is in the projection.
    public let position: LedgerPosition
    /// A text of the projection's own, such as the cursor of the last confirmed journal entry.
    public let note: String
    /// When it was recorded, in microseconds since 1970 UTC.
    public let updatedAt: Int64
}
