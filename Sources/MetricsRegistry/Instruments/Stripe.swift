// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Which of its cells a striped instrument uses for the calling thread.
@usableFromInline
enum Stripe {
    /// The most cells of an instrument; past that many CPUs several share one.
    private static var limit: Int { 64 }

    /// The number of cells, a power of two: at least one for each CPU up to the limit.
    static let count: Int = {
        let processors = min(max(sysconf(Int32(_SC_NPROCESSORS_CONF)), 1), limit)
        return 1 << (Int.bitWidth - (processors - 1).leadingZeroBitCount)
    }()

    /// A number to be taken modulo `count`: that of the CPU where the C library has it at hand, elsewhere one made
    /// from the thread's address.
    @usableFromInline
    static func current() -> Int {
        #if canImport(Glibc)
            if let processor { return Int(processor()) }
            let thread = UInt(pthread_self())
        #else
            let thread = UInt(bitPattern: pthread_self())
        #endif
        return Int(truncatingIfNeeded: (thread >> 6 &* 0x9E37_79B9_7F4A_7C15) >> 48)
    }

    #if canImport(Glibc)
        /// sched_getcpu(3), which reads a word that the kernel keeps for each thread (rseq(2), glibc from 2.35 on).
        /// The header declares it only for GNU's dialect of C.
        private static let processor: (@convention(c) () -> CInt)? = {
            guard let address = unsafe dlsym(nil, "sched_getcpu") else { return nil }
            return unsafe unsafeBitCast(address, to: (@convention(c) () -> CInt).self)
        }()
    #endif
}
