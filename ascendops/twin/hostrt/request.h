#pragma once

#include "hostrt.h"

namespace ascendops_host {
// Fills a call from the bytes that host.py packs; false if they are malformed.
bool ReadRequest(const uint8_t *bytes, size_t size, Call &call);
}  // namespace ascendops_host
