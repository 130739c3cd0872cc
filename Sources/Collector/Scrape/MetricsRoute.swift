// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import MetricsRegistry
internal import NIOCore
internal import NIOPosix

/// `GET /metrics`: a page in the format and content coding that the client prefers, with a deadline and a limit on
/// concurrent scrapes.
struct MetricsRoute: Sendable {
    /// How much of a page is written at a time; each piece waits until the one before it is flushed.
    private static let pieceBytes = 64 << 10

    let registry: MetricsRegistry
    let metrics: ScrapeMetrics
    let slots: ScrapeSlots
    let createdSamples: Bool
    let compressor = PageCompressor()

    /// - Parameter limits: Read at each scrape since they are hot-reloadable.
    init(_ registry: MetricsRegistry, limits: @escaping @Sendable () -> ScrapeSlots.Limits, createdSamples: Bool) {
        self.registry = registry
        self.createdSamples = createdSamples
        metrics = ScrapeMetrics(registry)
        slots = ScrapeSlots(limits, gauge: metrics.inFlight)
    }

    func respond(to request: Request, over connection: any Channel) async throws -> Response {
        let scrape = try ScrapeRequest(request, createdSamples: createdSamples)
        guard let (slot, stalled) = slots.take(for: connection, at: .now()) else {
            metrics.refused.add()
            throw Problem.tooManyScrapes()
        }
        if let stalled {
            metrics.missedDeadlines.add()
            stalled.close(promise: nil)
        }
        let missed = metrics.missedDeadlines
        let deadline = ScrapeDeadline(scrape.timeout, of: connection) { missed.add() }
        let page = try await page(for: scrape)
        slot.progressed(at: .now())
        return await response(page, as: scrape.format, to: request, over: connection, slot) {
            deadline.end()
            slot.giveBack()
        }
    }

    private func page(for scrape: ScrapeRequest) async throws -> ScrapedPage {
        let started = ContinuousClock.now
        let (registry, compressor) = (registry, compressor)
        let page = try await ScrapeThreads.run { ScrapedPage(scrape, of: registry, compressor) }
        metrics.rendered(page.plainBytes, as: scrape.format, page.coding, in: ContinuousClock.now - started)
        return page
    }

    /// - Parameter written: Called when the response is written or failed; released uncalled if the connection is closed
    ///   before.
    private func response(
        _ page: ScrapedPage,
        as format: ExpositionFormat,
        to request: Request,
        over connection: any Channel,
        _ slot: ScrapeSlots.Slot,
        written: @escaping @Sendable () -> Void
    ) async -> Response {
        var headers: HTTPFields = [.contentType: format.contentType, .vary: "Accept, Accept-Encoding"]
        if page.coding == .gzip { headers[.contentEncoding] = page.coding.rawValue }
        if request.method == .head {
            written()
            headers[.contentLength] = String(page.bytes.readableBytes)
            return Response(status: .ok, headers: headers)
        }
        // With this watermark a write completes once the kernel has taken all of it.
        try? await connection.setOption(.writeBufferWaterMark, value: .init(low: 1, high: 1)).get()
        let sentBytes = metrics.sentBytes
        let body = ResponseBody(contentLength: page.bytes.readableBytes) { writer in
            defer { written() }
            var rest = page.bytes
            var unflushed = 0
            while let piece = rest.readSlice(length: min(Self.pieceBytes, rest.readableBytes)), piece.readableBytes > 0
            {
                try await writer.write(piece)
                slot.progressed(at: .now())
                sentBytes.add(UInt64(unflushed))
                unflushed = piece.readableBytes
            }
            try await writer.finish(nil)
            sentBytes.add(UInt64(unflushed))
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

/// A rendered page, compressed where the client accepts it.
private struct ScrapedPage: Sendable {
    /// A smaller page is not compressed: it takes one packet anyway.
    private static let minimumCompressedBytes = 1_024

    let bytes: ByteBuffer
    let coding: ContentCoding
    /// The size of the page before compression.
    let plainBytes: Int

    init(_ request: ScrapeRequest, of registry: MetricsRegistry, _ compressor: PageCompressor) {
        (bytes, coding, plainBytes) = registry.withExposition(request.format, names: request.names) { page in
            if request.coding == .gzip, page.count >= Self.minimumCompressedBytes,
                let member = compressor.compress(page, as: request.names == nil ? request.format : nil)
            {
                return (ByteBuffer(bytes: member), .gzip, page.count)
            }
            var plain = ByteBuffer()
            unsafe plain.writeBytes(page.bytes)
            return (plain, .identity, page.count)
        }
    }
}

/// Closes a connection whose response is not written in time, even if the client does not read, until ended or released.
private final class ScrapeDeadline: Sendable {
    private let closing: Scheduled<Void>

    /// - Parameter missed: Called on the connection's event loop before it is closed.
    init(_ timeout: Duration, of connection: any Channel, missed: @escaping @Sendable () -> Void) {
        closing = connection.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            missed()
            connection.close(promise: nil)
        }
    }

    deinit { end() }

    /// Cancels the deadline: the response is written, or never will be.
    func end() {
        closing.cancel()
    }
}

/// Threads that render and compress pages, so that rendering blocks no event loop. One core is left to ingest where
/// there are several.
private enum ScrapeThreads {
    /// Never shut down: it serves until the process exits.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount - 1))
        threads.start()
        return threads
    }()

    /// Runs the work on one of the threads.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }
}

extension Problem {
    fileprivate static func tooManyScrapes() -> Problem {
        Problem(
            status: .serviceUnavailable,
            type: "too-many-scrapes",
            title: "Too many scrapes",
            detail: "The limit of concurrent scrapes is reached (see --max-scrapes). Try again.",
            retryAfter: RetryHint.jittered(.seconds(1))
        )
    }
}
