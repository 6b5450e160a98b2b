// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/text.hpp>

namespace thalweg {

void text::assign_shared(std::string_view bytes) {
    void* storage = ::operator new(sizeof(shared_block) + bytes.size());
    auto* fresh = new (storage) shared_block;
    std::memcpy(fresh->bytes(), bytes.data(), bytes.size());
    word_[0] = reinterpret_cast<std::uint64_t>(fresh);
    word_[1] = bytes.size();
    raw()[tag_at] = shared_tag;
}

void text::release() noexcept {
    shared_block* owned = block();
    if (owned->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    owned->~shared_block();
    ::operator delete(owned);
}

} // namespace thalweg
