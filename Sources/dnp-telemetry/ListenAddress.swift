// SPDX-License-Identifier: Apache-2.0

/// A host and a port as the command line takes them: `127.0.0.1:10910`, `[::1]:10910`, `:10910` for every address.
struct ListenAddress {
    var host: String
    var port: Int

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.host = host.isEmpty ? "0.0.0.0" : String(host)
        self.port = Int(port)
    }
}
