// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where a reader's bytes come from. For the sources and tests of this room only.

#include <thalweg/protocol/result.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace thalweg::trace::detail {

class byte_source {
public:
    virtual ~byte_source() = default;

    /// Up to `count` bytes to `into`; 0 at the end.
    [[nodiscard]] virtual result<std::size_t> read(char* into, std::size_t count) = 0;
};

/// Reads a descriptor, and closes it in the end if it is owned.
[[nodiscard]] std::unique_ptr<byte_source> read_descriptor(int descriptor, bool is_owned, std::string name);
[[nodiscard]] std::unique_ptr<byte_source> read_text(std::string bytes);

} // namespace thalweg::trace::detail
