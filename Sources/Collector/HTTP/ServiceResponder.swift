// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import Synchronization

/// Answers requests through the router, and adds the headers of the server.
struct ServiceResponder: Sendable {
    private let responder: RouterResponder<ServiceContext>
    private let headers: ServerHeaders
    private let log: Logger

    init(_ responder: RouterResponder<ServiceContext>, headers: ServerHeaders, log: Logger) {
        self.responder = responder
        self.headers = headers
        self.log = log
    }

    @concurrent func respond(
        to request: Request,
        over connection: any Channel,
        of listener: Listener,
        _ writer: consuming ResponseWriter
    ) async throws {
        let context = ServiceContext(source: .init(channel: connection, listener: listener, logger: log))
        var response: Response
        do {
            response = try await responder.respond(to: request, context: context)
        } catch let error as BodyAbandoned {
            throw error
        } catch {
            log.debug("a request failed", metadata: ["error": "\(error)"])
            response = Response(status: .internalServerError)
        }
        headers.put(on: &response.headers)
        try await writer.write(response: response.head, body: response.body)
    }
}

/// The context of a request: its connection, and the listener that accepted that.
struct ServiceContext: RequestContext {
    struct Source: RequestContextSource {
        let channel: any Channel
        let listener: Listener
        let logger: Logger
    }

    var coreContext: CoreRequestContextStorage
    let connection: any Channel
    /// The name of the token that authorized the request.
    var token: String?
    /// Whether what let the request read the console would still do so; a long answer ends once it does not.
    var stillAllowed: @Sendable () -> Bool = { true }
    let listener: Listener

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = source.channel
        listener = source.listener
    }

    /// The client's address; nil once the connection is closed.
    var peer: SocketAddress? { connection.remoteAddress }
}

/// The headers of every response: the server's name, the time, and those of the operator.
struct ServerHeaders: Sendable {
    private static let name = "dnp-telemetry"

    /// Adds the operator's headers, as configured at the moment.
    let addConfigured: @Sendable (inout HTTPFields) -> Void

    func put(on fields: inout HTTPFields) {
        fields[.date] = Self.date()
        fields[.server] = Self.name
        addConfigured(&fields)
    }
}

extension ServerHeaders {
    private static let last = Mutex((second: time_t(-1), text: ""))

    /// The time as an IMF-fixdate (RFC 9110, 5.6.7), formatted once a second.
    static func date(at second: time_t = time(nil)) -> String {
        last.withLock { last in
            if last.second != second { last = (second, text(second)) }
            return last.text
        }
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func text(_ second: time_t) -> String {
        var second = second
        var parts = unsafe tm()
        unsafe gmtime_r(&second, &parts)
        let (day, month) = unsafe (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
        let date = unsafe "\(two(parts.tm_mday)) \(month) \(1_900 + parts.tm_year)"
        let clock = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(day), \(date) \(clock) GMT"
    }

    private static func two(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
