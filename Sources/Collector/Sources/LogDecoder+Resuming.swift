// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import MetricsRegistry
internal import TelemetryEvents

extension LogDecoder {
    /// A decoder that goes on where one was; anew where its state cannot be read.
    static func resumed(
        _ state: [UInt8]?,
        _ options: LogDecoderOptions,
        _ room: LedgerRoom,
        _ gaps: Counter,
        _ log: Logger,
        _ source: String
    ) -> LogDecoder {
        if let state {
            do throws(LogStateError) {
                return try LogDecoder(
                    restoring: state,
                    options,
                    pseudonyms: room.key,
                    identityKey: room.identityKey
                )
            } catch {
                gaps.add()
                log.warning(
                    """
                    what was known of the cycles in a followed log cannot be read (\(error)): events of cycles that \
                    began before may be lost; nothing needs doing
                    """,
                    metadata: ["source": "\(source)"]
                )
            }
        }
        return LogDecoder(options, pseudonyms: room.key, identityKey: room.identityKey)
    }
}
