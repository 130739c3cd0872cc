// SPDX-License-Identifier: Apache-2.0

/// A fault that is put around the collector on purpose, to see that the simulation finds it.
enum PlantedFault: String, CaseIterable, Sendable {
    /// A sync of the log says that it is done, and is not.
    case syncThatLies
    /// A client is told that its events are stored before they are.
    case acknowledgedBeforeCommit
    /// The journal's position is saved up to what was sent, not what was confirmed.
    case confirmedWhenSent
    /// A datagram that journald took counts as an entry that it stored.
    case sentIsReadBack
    /// A half of a checkpoint's pages is missing under its position.
    case checkpointHalfWritten
    /// The position of a checkpoint is ahead of its state.
    case positionAheadOfState
    /// What is remembered of events and batches is lost at a restart.
    case identitiesLost
    /// The accounts begin at 0 after a restart.
    case accountsLost
    /// Batches are deleted that the journal does not have.
    case unconfirmedDeleted
    /// A repeated batch under a known key is taken for a new one.
    case repeatedTakenAsNew
    /// The clock is believed whatever it says.
    case clockAlwaysBelieved
    /// The mark of what was acknowledged is gone after a restart.
    case markLost
}
