// SPDX-License-Identifier: Apache-2.0

import Gzip

/// Decompresses an input within small limits; what comes out respects them and comes out again.
enum GzipBodiesTarget: FuzzTarget {
    static func check(_ body: [UInt8]) {
        let limit = 128 << 10
        do throws(GzipError) {
            let content = try GzipDecoder.decode(body.span, maximumBytes: limit, maximumRatio: 200)
            guard content.count <= limit else { finding("\(content.count) bytes where \(limit) are allowed") }
            checkAgain(body, content, limit: content.count)
        } catch {
            if error == .outOfMemory { finding("no memory for \(body.count) bytes") }
        }
    }
}

/// A limit of exactly the content is no reason to refuse it, and one byte less is.
private func checkAgain(_ body: [UInt8], _ content: [UInt8], limit: Int) {
    guard (try? GzipDecoder.decode(body.span, maximumBytes: limit, maximumRatio: 200)) == content else {
        finding("\(content.count) bytes that are refused with a limit of as many")
    }
    guard limit > 0 else { return }
    do throws(GzipError) {
        _ = try GzipDecoder.decode(body.span, maximumBytes: limit - 1, maximumRatio: 200)
        finding("\(content.count) bytes that pass a limit of \(limit - 1)")
    } catch {
        if error != .tooLarge { finding("\(error) where the limit is passed") }
    }
}
