// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/id_registry.hpp>

#include <string>

namespace thalweg {

text id_registry::claim(const text& wanted) {
    if (wanted.empty()) return claim(text("call_" + std::to_string(++made_)));
    auto [known, fresh] = used_.try_emplace(wanted, 1);
    if (fresh) return wanted;
    std::size_t& repeats = known->second; // stays where it is when the table grows
    for (;;) {
        const text candidate(wanted.str() + "#" + std::to_string(++repeats));
        if (used_.try_emplace(candidate, 1).second) return candidate;
    }
}

} // namespace thalweg
