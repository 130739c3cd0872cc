// SPDX-License-Identifier: Apache-2.0

/// One element of an Accept or Accept-Encoding header: a value in lower case, its parameters and its weight.
struct HeaderElement: Equatable {
    /// Bytes of a header that are read.
    static var maximumBytes: Int { 8_192 }
    /// Elements of a header that are read.
    static var maximumElements: Int { 64 }
    /// Parameters of an element that are read.
    static var maximumParameters: Int { 16 }

    /// What stands before the first semicolon, in lower case.
    let value: String
    /// The parameters but `q`, with names in lower case; the first of a name counts.
    let parameters: [String: String]
    /// The weight in thousandths.
    let quality: Int

    /// The well-formed elements of a comma-separated header, in their order.
    ///
    /// Total: what can't be read is left out, as is what lies beyond the limits; an element that the limit of bytes
    /// cuts is left out whole.
    static func list(_ header: String) -> [HeaderElement] {
        var cursor = HeaderCursor(header.utf8.prefix(maximumBytes))
        let isCut = header.utf8.count > maximumBytes
        var elements: [HeaderElement] = []
        for _ in 0..<maximumElements {
            let element = cursor.element()
            let isLast = !cursor.skipPastComma()
            if let element, !(isLast && isCut) { elements.append(element) }
            if isLast { break }
        }
        return elements
    }
}
