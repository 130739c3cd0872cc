// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import MetricsRegistry
internal import NIOCore
internal import NIOPosix

/// `GET /metrics` (SPEC 7): a page in the format and coding that the client prefers, within a time, and only so many at
/// once.
struct MetricsRoute: Sendable {
    /// A page is written in pieces of so many bytes, each once the one before is on its way.
    private static let piece = 64 << 10

    let registry: MetricsRegistry
    let metrics: ScrapeMetrics
    let slots: ScrapeSlots
    let createdSamples: Bool
    let compressor = PageCompressor()

    /// - Parameter maximumScrapes: asked for each scrape.
    init(_ registry: MetricsRegistry, maximumScrapes: @escaping @Sendable () -> Int, createdSamples: Bool) {
        self.registry = registry
        self.createdSamples = createdSamples
        metrics = ScrapeMetrics(registry)
        slots = ScrapeSlots(limit: maximumScrapes, gauge: metrics.inFlight)
    }

    func respond(to request: Request, over connection: any Channel) async throws -> Response {
        let scrape = try ScrapeRequest(request, createdSamples: createdSamples)
        guard let slot = slots.take() else {
            metrics.refused.add()
            throw Problem.tooManyScrapes()
        }
        let missed = metrics.missedDeadlines
        let deadline = ScrapeDeadline(scrape.timeout, of: connection) { missed.add() }
        let page = try await page(for: scrape)
        return await response(page, as: scrape.format, to: request, over: connection) {
            deadline.end()
            slot.giveBack()
        }
    }

    private func page(for scrape: ScrapeRequest) async throws -> ScrapedPage {
        let started = ContinuousClock.now
        let (registry, compressor) = (registry, compressor)
        let page = try await ScrapeThreads.run { ScrapedPage(scrape, of: registry, compressor) }
        metrics.rendered(page, as: scrape.format, in: ContinuousClock.now - started)
        return page
    }

    /// - Parameter written: called when the answer is written or cannot be, or forgotten where the connection is gone.
    private func response(
        _ page: ScrapedPage,
        as format: ExpositionFormat,
        to request: Request,
        over connection: any Channel,
        written: @escaping @Sendable () -> Void
    ) async -> Response {
        var headers: HTTPFields = [.contentType: format.contentType, .vary: "Accept, Accept-Encoding"]
        if page.coding == .gzip { headers[.contentEncoding] = page.coding.rawValue }
        if request.method == .head {
            written()
            headers[.contentLength] = String(page.bytes.readableBytes)
            return Response(status: .ok, headers: headers)
        }
        // So that the end of an answer waits until the system has taken all of it.
        try? await connection.setOption(.writeBufferWaterMark, value: .init(low: 1, high: 1)).get()
        let sentBytes = metrics.sentBytes
        let body = ResponseBody(contentLength: page.bytes.readableBytes) { writer in
            defer { written() }
            var rest = page.bytes
            var onItsWay = 0
            while let piece = rest.readSlice(length: min(Self.piece, rest.readableBytes)), piece.readableBytes > 0 {
                try await writer.write(piece)
                sentBytes.add(UInt64(onItsWay))
                onItsWay = piece.readableBytes
            }
            try await writer.finish(nil)
            sentBytes.add(UInt64(onItsWay))
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

/// A page as it is sent.
struct ScrapedPage: Sendable {
    /// A page that is smaller is not compressed: it takes one packet anyway.
    private static let leastCompressed = 1_024

    let bytes: ByteBuffer
    let coding: ContentCoding
    /// The size of the page before it was compressed.
    let plainBytes: Int

    init(_ request: ScrapeRequest, of registry: MetricsRegistry, _ compressor: PageCompressor) {
        (bytes, coding, plainBytes) = registry.withExposition(request.format, names: request.names) { page in
            if request.coding == .gzip, page.count >= Self.leastCompressed,
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

/// Closes a connection when the answer to a scrape is not written in time, also where the client reads nothing; until it
/// is ended or forgotten.
final class ScrapeDeadline: Sendable {
    private let closing: Scheduled<Void>

    /// - Parameter missed: called on the connection's thread before it is closed.
    init(_ timeout: Duration, of connection: any Channel, missed: @escaping @Sendable () -> Void) {
        closing = connection.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            missed()
            connection.close(promise: nil)
        }
    }

    deinit { end() }

    /// The answer is written, or will never be.
    func end() {
        closing.cancel()
    }
}

/// Threads that render and compress pages, so that no connection waits for a page but its own. There are fewer than
/// processors, where there are several: scrapes never take them all from ingest.
enum ScrapeThreads {
    /// Runs until the process ends.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount - 1))
        threads.start()
        return threads
    }()

    /// Runs the work on one of the threads, unless the task is cancelled before its turn comes.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }
}
