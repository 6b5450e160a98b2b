// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/errors.hpp>
#include <thalweg/trace/sink.hpp>

namespace thalweg::trace {

result<std::vector<message>> sink::read_back() const {
    return failure(errc::unreadable,
                   "this kind of trace cannot be read back; keep the records in a file_sink or a "
                   "memory_sink, or override read_back()");
}

} // namespace thalweg::trace
