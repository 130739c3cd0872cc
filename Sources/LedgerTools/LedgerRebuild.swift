// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// Computes the projections anew from the ledger and compares them with the saved ones (SPEC 4.3).
///
/// While the ledger still holds its first batch, everything is rebuilt from nothing. Otherwise the last checkpoint is
/// all that is left of what was deleted, and only what follows it can be folded.
package struct LedgerRebuild: Sendable {
    /// How often it is begun anew because a running service deleted what was not read yet.
    private static let maximumAttempts = 5

    private let reader: LedgerReader
    private let identityKey: IdentityKey

    /// Opens the ledger of a state directory for reading.
    package init(stateDirectory: String) throws(UnreadableLedger) {
        reader = try LedgerReader.reading(stateDirectory)
        identityKey = try Self.identityKey(stateDirectory)
    }

    init(_ reader: LedgerReader, _ identityKey: IdentityKey) {
        self.reader = reader
        self.identityKey = identityKey
    }

    static func identityKey(_ directory: String) throws(UnreadableLedger) -> IdentityKey {
        do throws(InstallationKeyError) {
            return try InstallationKey(directory: directory, mayCreate: false).identityKey
        } catch {
            throw UnreadableLedger(error)
        }
    }

    /// Rebuilds and compares; nothing is changed.
    package func report(
        progress: (LedgerProgress) -> Void = { _ in }
    ) throws(UnreadableLedger) -> RebuildReport {
        try rebuild(progress: progress).report
    }

    /// What a rebuild leaves: the report, and what is to be saved at the end of the ledger.
    struct Rebuilt {
        var report: RebuildReport
        var refold: LedgerRefold
    }

    func rebuild(progress: (LedgerProgress) -> Void) throws(UnreadableLedger) -> Rebuilt {
        for _ in 0..<Self.maximumAttempts {
            do {
                return try attempt(progress: progress)
            } catch is LedgerRefold.Overtaken {
                continue
            } catch let error as LedgerError {
                throw UnreadableLedger(error)
            } catch {
                throw UnreadableLedger("\(error)")
            }
        }
        throw UnreadableLedger("the service deletes batches faster than they are read; stop it for the rebuild")
    }

    private func attempt(progress: (LedgerProgress) -> Void) throws -> Rebuilt {
        let statistics = try reader.statistics()
        var report = RebuildReport(result: .equal, pruned: statistics.pruned, end: statistics.end)
        var loaded = blank
        var comparison = StateComparison()
        do throws(LedgerError) {
            let isSaved = try loaded.load(from: reader) { comparison.add(saved: $0, $1) }
            if isSaved { report.saved = loaded.position }
        } catch {
            guard let detail = error.stateDetail else { throw error }
            report.problems.append(detail)
            report.saved = try reader.position(of: LedgerProjection.name)?.position
        }
        report.savedPages = comparison.savedPages
        guard statistics.pruned == .start else { return try goOn(from: loaded, report, progress) }

        var refold = LedgerRefold(blank)
        try refold.fold(reader, upTo: report.saved ?? .start, progress: progress)
        var whole = refold.projection
        if report.saved != nil {
            whole.takeWholeState { comparison.add(rebuilt: $0, $1) }
            report.pages = comparison.pages
            if report.problems.isEmpty {
                report.counters = CounterValues(loaded).differences(from: CounterValues(refold.projection))
            }
        }
        try refold.fold(reader, progress: progress)
        conclude(&report, refold)
        return Rebuilt(report: report, refold: refold)
    }

    /// From the last checkpoint on, because what it was made of is not there any more.
    private func goOn(
        from loaded: LedgerProjection,
        _ report: RebuildReport,
        _ progress: (LedgerProgress) -> Void
    ) throws -> Rebuilt {
        guard report.problems.isEmpty, report.saved != nil else {
            let why = report.problems.first ?? "there is no checkpoint"
            throw UnreadableLedger(
                "batches up to \(report.pruned) were deleted, and what they came to cannot be read: \(why)"
            )
        }
        var report = report
        var refold = LedgerRefold(loaded)
        try refold.fold(reader, progress: progress)
        report.result = .notComparable
        conclude(&report, refold)
        return Rebuilt(report: report, refold: refold)
    }

    private func conclude(_ report: inout RebuildReport, _ refold: LedgerRefold) {
        report.batches = refold.batches
        report.events = refold.events
        report.end = refold.projection.position
        report.problems += refold.problems
        if !report.pages.isEmpty || !report.counters.isEmpty || !report.problems.isEmpty { report.result = .different }
    }

    private var blank: LedgerProjection { LedgerProjection(identityKey: identityKey, limits: LifecycleLimits()) }
}

extension LedgerError {
    /// What is wrong with a saved state; nil for an error of the moment or the machine.
    var stateDetail: String? {
        switch self {
        case .corrupt(let detail): detail
        case .damagedState(_, let key): "the checksum of page \(key) is wrong; the pages behind it were not compared"
        default: nil
        }
    }
}
