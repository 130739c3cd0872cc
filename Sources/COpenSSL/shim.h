// SPDX-License-Identifier: Apache-2.0

// OpenSSL 3 marks the functions over SHA256_CTX as deprecated in favour of EVP. They stay, because a state that is a
// plain value is copied without an allocation: a keyed hash takes 0.15 us with them and 2.9 us with HMAC(3).
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
