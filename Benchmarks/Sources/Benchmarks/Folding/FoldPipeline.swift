// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LedgerState
internal import PrefetchLifecycle
internal import RefreshLifecycle
internal import TelemetryEvents

/// The steps of the service around its commit.
struct FoldPipeline {
    private let key: InstallationKey
    private let identityKey: IdentityKey
    private var fold: LifecycleFold
    private var refresh = RefreshFold(anonymousIsOneInstallation: false)
    private(set) var accepted = 0
    /// Seconds spent behind the decoder.
    private(set) var foldSeconds = 0.0

    /// - Parameter deduplicates: whether the identities of events are remembered.
    init(key: InstallationKey, deduplicates: Bool = true) {
        self.key = key
        identityKey = key.identityKey
        fold = LifecycleFold(key: key.identityKey, deduplicates: deduplicates)
    }

    var scheduled: Int { Int(fold.totals.scheduled) }
    var checks: Int { Int(refresh.totals.checks(isAvailable: true)) }
    var openCycles: Int { fold.openCycles }
    var identities: Int { fold.rememberedIdentities }

    /// Takes a checkpoint as the service does, after which what is new is not kept for one.
    mutating func checkpoint() { _ = fold.takeChanges() }

    mutating func take(_ request: PreparedRequest) throws {
        let now = Timestamp(microseconds: Int64(time(nil)) * 1_000_000)
        let decoded = JSONEventDecoder.decode(
            request.bytes.span.extracting(request.body),
            framing: .lines,
            receivedAt: now,
            pseudonyms: key,
            identityKey: identityKey
        )
        let watch = Stopwatch()
        let (records, hashes) = newEvents(decoded)
        let others = fold.otherEvents
        try fold.apply(records.span, hashes, receivedAt: now)
        if fold.otherEvents != others { try refresh.apply(records.span, receivedAt: now) }
        fold.clearProposals()
        foldSeconds += watch.seconds
    }

    /// The records and the hashes of the events that are new.
    private mutating func newEvents(_ decoded: DecodedEvents) -> ([UInt8], EventHashes) {
        let duplicates = fold.propose(decoded.identities)
        accepted += decoded.events.count - duplicates.count
        return (decoded.events.bytes(without: duplicates), decoded.hashes.without(duplicates))
    }
}
