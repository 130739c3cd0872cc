// SPDX-License-Identifier: Apache-2.0

internal import HTTPExchange
package import LogInput
internal import Synchronization

/// Connections to one collector, as many as there are requests under way.
package final class ParallelConnections: Sendable {
    private let compresses: Bool
    private let first: CollectorConnection
    private let idle: Mutex<[CollectorConnection]>

    /// - Throws: `InvalidOption` for a file of secrets or certificates that is none.
    package init(_ options: SendOptions) throws(InvalidOption) {
        compresses = options.compresses
        let first = try CollectorConnection(
            options.to,
            options.access,
            timeout: options.timeout,
            credentials: options.credentials,
            headers: options.headers
        )
        self.first = first
        idle = Mutex([first])
    }

    /// Whether a secret goes over the network in clear.
    package var tellsSecretInClear: Bool { first.tellsSecretInClear }

    /// Sends a request.
    package func reply(to request: DeliveryRequest) async -> DeliveryReply {
        let connection = idle.withLock { $0.popLast() } ?? CollectorConnection(like: first)
        let reply = await self.reply(to: request, over: connection)
        idle.withLock { $0.append(connection) }
        return reply
    }

    private func reply(to request: DeliveryRequest, over connection: CollectorConnection) async -> DeliveryReply {
        let content = SendRequest(request.batch, compresses: compresses)
        let loss: RequestLoss
        switch request.loss {
        case .whileSending(let parts)?: loss = .whileSending(bytes: content.body.count * Int(parts) / 1_000_000)
        case .answer?: loss = .answer
        case nil:
            do throws(Unreachable) {
                let answer = try await connection.post(content.body, content.headers)
                return DeliveryReply(kind: .answer(status: answer.status, BatchOutcome(answer)))
            } catch {
                return DeliveryReply(kind: .noAnswer(error))
            }
        }
        await connection.lose(loss, content.body, content.headers)
        return DeliveryReply(kind: .lost)
    }

    /// Closes all that are open.
    package func close() async {
        for connection in idle.withLock({ $0 }) { await connection.close() }
    }
}
