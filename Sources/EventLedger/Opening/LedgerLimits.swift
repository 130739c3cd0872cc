// SPDX-License-Identifier: Apache-2.0

/// The sizes that a ledger is opened and kept with.
struct LedgerLimits: Sendable {
    /// A page of 8 KiB: the best of 4 to 32 KiB for batches of 60 KB and of 200 bytes alike, within the noise.
    var pageBytes = 8 << 10

    /// The size of the log at which a commit moves it into the database: so small that the commit that does it takes
    /// some 20 ms, its two fsyncs included, and that a start after a crash has little to read.
    var logBytes = 4 << 20

    /// What the log is cut back to after it grew past it behind a long read.
    var keptLogBytes = 32 << 20

    /// The size below which every page is checked at the start: 256 MiB, well under a second.
    var fullCheckBytes: Int64 = 256 << 20

    /// How many of the last batches have their checksums verified at the start, and after how many bytes that ends.
    var tail = ReadLimit(batches: 64, bytes: 16 << 20)

    /// The page cache of one connection.
    var cacheBytes = 2 << 20

    /// The statements that prepare the writing connection. The page size and `auto_vacuum` are properties of a new file;
    /// in one that is there SQLite would write the latter again, for which there may be no space.
    ///
    /// Freed pages are not overwritten (Debian's SQLite does so by default, which makes pruning twelve times slower):
    /// what is stored holds nothing that has to be wiped.
    func writerSetUp(_ durability: LedgerDurability, isNew: Bool) -> [String] {
        (isNew ? ["PRAGMA page_size = \(pageBytes)", "PRAGMA auto_vacuum = INCREMENTAL"] : []) + [
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = \(durability == .power ? "FULL" : "NORMAL")",
            "PRAGMA wal_autocheckpoint = \(max(1, logBytes / pageBytes))",
            "PRAGMA journal_size_limit = \(keptLogBytes)",
            "PRAGMA secure_delete = OFF",
        ] + readerSetUp
    }

    /// The statements that prepare every connection.
    var readerSetUp: [String] {
        [
            "PRAGMA cache_size = -\(max(64, cacheBytes >> 10))",
            "PRAGMA temp_store = MEMORY",
            "PRAGMA trusted_schema = OFF",
            "PRAGMA cell_size_check = ON",
        ]
    }
}
