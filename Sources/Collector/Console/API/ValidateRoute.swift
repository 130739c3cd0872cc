// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import LogInput
internal import LogValidation
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// `POST /api/v1/validate`: judges a log as the commands `validate` and `report` do, byte by byte.
///
/// Nothing of an upload enters the ledger, the journal or the log.
struct ValidateRoute: Sendable {
    /// The most bytes of an upload, as sent and decompressed.
    static let maximumBytes = 64 << 20
    /// How long an upload may be judged, unless a test sets another time.
    static let maximumTime = Duration.seconds(30)
    /// How many uploads are judged at once.
    static let maximumJudged = 2

    let live: LiveConfiguration
    let metrics: ConsoleMetrics
    private let maximumTime: Duration
    private let budget = ByteBudget()
    private let places = JudgementPlaces()

    init(live: LiveConfiguration, metrics: ConsoleMetrics, maximumTime: Duration = Self.maximumTime) {
        self.live = live
        self.metrics = metrics
        self.maximumTime = maximumTime
    }

    func respond(to request: Request) async throws -> Response {
        do {
            return try await judge(request)
        } catch let refusal as JudgementRefusal {
            metrics.refused(refusal.reason)
            throw refusal.problem
        }
    }

    private func judge(_ request: Request) async throws -> Response {
        let query: JudgementQuery
        do throws(Problem) {
            query = try JudgementQuery(request)
        } catch {
            throw JudgementRefusal(.query, error)
        }
        let isGzip = try Self.isGzip(request)
        guard places.isFree else { throw JudgementRefusal.busy }
        let lease = ByteBudget.Lease(budget, limit: Self.maximumBytes * Self.maximumJudged)
        defer { lease.giveBack() }
        let body = try await collect(request, lease)
        guard !isGzip || body.starts(with: [0x1F, 0x8B]) else { throw JudgementRefusal.notGzip }
        guard let place = JudgementPlaces.Place(places) else { throw JudgementRefusal.busy }
        defer { place.giveBack() }
        let limits = InputLimits(
            maximumBytes: Self.maximumBytes,
            maximumRatio: live.current.maximumCompressionRatio,
            deadline: .now + maximumTime
        )
        let result = try await JudgementPlaces.threads.runIfActive { try query.result(body, limits) }
        metrics.judged(result.verdict)
        let headers: HTTPFields = [
            .contentType: query.form.contentType, .cacheControl: "no-store",
            .contentLength: String(result.bytes.count),
        ]
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: result.bytes)))
    }

    private static func isGzip(_ request: Request) throws(JudgementRefusal) -> Bool {
        switch request.headers[.contentEncoding]?.lowercased() ?? "identity" {
        case "identity", "": return false
        case "gzip", "x-gzip": return true
        default: throw JudgementRefusal(.encoding, .unsupportedEncoding)
        }
    }

    /// Reads the body; received bytes count, not the declared length.
    private func collect(_ request: Request, _ lease: ByteBudget.Lease) async throws -> [UInt8] {
        let declared = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard declared <= Self.maximumBytes else { throw JudgementRefusal.tooLarge }
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= Self.maximumBytes else { throw JudgementRefusal.tooLarge }
            guard lease.extend(by: part.readableBytes) else { throw JudgementRefusal.busy }
            body.append(contentsOf: part.readableBytesView)
        }
        return body
    }
}

extension JudgementQuery {
    /// What the commands print of an upload.
    fileprivate func result(_ body: [UInt8], _ limits: InputLimits) throws(JudgementRefusal) -> (
        bytes: [UInt8], verdict: Verdict
    ) {
        let judgement: Judgement
        do throws(InputError) {
            judgement = try JudgementRun(options).judge(body, limits)
        } catch {
            throw JudgementRefusal(error)
        }
        let answer = JudgementAnswer(judgement, to: question)
        let bytes: [UInt8] =
            switch form {
            case .json: answer.json(hints: hints)
            case .text: Array(answer.text(hints: hints).utf8)
            case .junit: answer.junit(hints: hints)
            case .markdown: Array(try Self.record(judgement).markdown.utf8)
            case .artifact: try Self.record(judgement).json
            }
        return (bytes, answer.verdict)
    }

    private static func record(_ judgement: Judgement) throws(JudgementRefusal) -> TestRunRecord {
        do throws(NothingToRecord) {
            return try TestRunRecord(judgement)
        } catch {
            throw .nothingToRecord(error)
        }
    }
}

/// The places of the uploads that are judged, each with a thread.
final class JudgementPlaces: Sendable {
    /// Never shut down: they serve until the process exits.
    static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: ValidateRoute.maximumJudged)
        threads.start()
        return threads
    }()

    private let taken = Atomic(0)

    var isFree: Bool { taken.load(ordering: .relaxed) < ValidateRoute.maximumJudged }

    /// A place of one upload.
    struct Place: Sendable {
        private let places: JudgementPlaces

        /// Nil where all are taken.
        init?(_ places: JudgementPlaces) {
            self.places = places
            guard places.taken.add(1, ordering: .relaxed).newValue <= ValidateRoute.maximumJudged else {
                places.taken.subtract(1, ordering: .relaxed)
                return nil
            }
        }

        func giveBack() { places.taken.subtract(1, ordering: .relaxed) }
    }
}

/// Why an upload is not judged.
struct JudgementRefusal: Error {
    enum Reason: String, CaseIterable {
        /// An unknown parameter or value.
        case query
        case encoding
        /// Too many uploads are judged.
        case busy
        case size, ratio, time
        /// It is in no format that can be judged, or broken.
        case unreadable
        /// It has no cycle or run of which a record could be written.
        case nothingToRecord = "no_record"
    }

    let reason: Reason
    let problem: Problem

    init(_ reason: Reason, _ problem: Problem) {
        self.reason = reason
        self.problem = problem
    }
}

extension JudgementRefusal {
    fileprivate static var busy: JudgementRefusal {
        let problem = Problem(
            status: .serviceUnavailable,
            type: "judging-busy",
            title: "Too many uploads are judged",
            detail: "Expected at most \(ValidateRoute.maximumJudged) uploads at once. Try again.",
            retryAfter: RetryHint.jittered(.seconds(2))
        )
        return JudgementRefusal(.busy, problem)
    }

    fileprivate static let tooLarge = JudgementRefusal(
        .size,
        Problem(
            status: .contentTooLarge,
            type: "upload-too-large",
            title: "Upload too large",
            detail: "Expected at most \(ValidateRoute.maximumBytes >> 20) MiB, also decompressed; the command "
                + "dnp-telemetry validate takes logs of any size."
        )
    )

    fileprivate static let notGzip = JudgementRefusal(
        .unreadable,
        unreadable("Its Content-Encoding is gzip and it is no gzip.")
    )

    fileprivate static func nothingToRecord(_ error: NothingToRecord) -> JudgementRefusal {
        let problem = Problem(
            status: .unprocessableContent,
            type: "no-record",
            title: "No test run to record",
            detail: "Expected a log with a test run, but \(error)."
        )
        return JudgementRefusal(.nothingToRecord, problem)
    }

    fileprivate init(_ error: InputError) {
        switch error.limit {
        case .size: self = .tooLarge
        case .ratio:
            let problem = Problem(
                status: .contentTooLarge,
                type: "compression-ratio",
                title: "Compression ratio too high",
                detail: "The upload decompresses to so many times its size that it is refused."
            )
            self.init(.ratio, problem)
        case .time:
            let problem = Problem(
                status: .serviceUnavailable,
                type: "judging-time",
                title: "Judging takes too long",
                detail: "Expected an upload that is judged within \(ValidateRoute.maximumTime.components.seconds) s. "
                    + "Try again, or a part of it; the command dnp-telemetry validate has no such limit.",
                retryAfter: RetryHint.jittered(.seconds(10))
            )
            self.init(.time, problem)
        case nil: self.init(.unreadable, Self.unreadable("Of the upload: \(error.problem)."))
        }
    }

    private static func unreadable(_ detail: String) -> Problem {
        Problem(status: .badRequest, type: "unreadable-upload", title: "The upload cannot be read", detail: detail)
    }
}
