// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc

extension JournalSocket {
    /// Passes entries as a fully sealed memory file with an empty payload.
    ///
    /// journald maps such a file without copying because the seals prove that nobody can change it any more.
    func sendAsMemoryFile(_ entries: borrowing RawSpan) -> JournalSendResult {
        let file = unsafe csystemd_memory_file("journal-entries")
        guard file >= 0 else { return .tooLarge(.last) }
        defer { close(file) }
        var written = 0
        while written < entries.byteCount {
            let count = unsafe entries.withUnsafeBytes { bytes in
                unsafe write(file, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            }
            guard count > 0 else { return .tooLarge(.last) }
            written += count
        }
        guard csystemd_seal_memory_file(file) == 0 else { return .tooLarge(.last) }
        guard csystemd_send_descriptor(descriptor, file) < 0 else { return .sent }
        return Self.result(of: .last)
    }
}
