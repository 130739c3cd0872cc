// SPDX-License-Identifier: Apache-2.0

#ifndef DNP_PROGRAM_PAGES_H
#define DNP_PROGRAM_PAGES_H

#include <stddef.h>

/// Gives back the pages with code and constants of the program and of its libraries, and returns how many bytes they have.
///
/// What only the start needed is then resident no longer; what is needed again comes from the page cache, in microseconds.
/// Nothing can be lost: these parts are never written, so their pages are those of the files (madvise(2),
/// `MADV_DONTNEED`).
size_t program_pages_release(void);

#endif
