// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Begins to count the allocations of the calling thread, from zero.
void allocations_begin(void);

/// Ends counting; how often malloc(3) and its kin were called meanwhile.
unsigned long allocations_end(void);

/// The bytes that the calling thread has allocated and not freed, as malloc_usable_size(3) tells them.
long allocations_held(void);
