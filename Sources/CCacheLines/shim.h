// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

/// Begins to load the line of the cache at an address, without waiting for it. A hint: it changes nothing, and loads nothing
/// from an address that is not mapped.
static inline void load_cache_line(uintptr_t address) { __builtin_prefetch((const void *)address); }
