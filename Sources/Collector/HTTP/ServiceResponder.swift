// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// Answers requests through the router.
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
