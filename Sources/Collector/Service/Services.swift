// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Logging
internal import ServiceLifecycle

/// Keeps the ledger's writer until everything that submits to it has stopped.
struct WriterService: Service {
    let writer: GroupCommit<IngestProcessor>
    let ledger: EventLedger
    let log: Logger

    func run() async throws {
        try? await gracefulShutdown()
        let abandoned = await writer.stop(within: .seconds(2))
        if abandoned > 0 {
            log.warning("requests were abandoned without an answer", metadata: ["count": "\(abandoned)"])
        }
        try ledger.close()
        log.info("stopped; the ledger is closed")
    }
}

/// Keeps the journal's writer until the requests have stopped.
struct JournalService: Service {
    let output: JournalOutput

    func run() async throws {
        try? await gracefulShutdown()
        await output.stop(within: .seconds(1))
    }
}

/// Stops being ready first of all, so that balancers look elsewhere while requests are still answered.
struct ReadinessService: Service {
    let readiness: Readiness

    func run() async throws {
        try? await gracefulShutdown()
        readiness.stop()
    }
}
