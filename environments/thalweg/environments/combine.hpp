// SPDX-License-Identifier: BSL-1.0

#pragma once

// Several environments as one, joined at compile time:
//
//     auto all = combine(tide_table{}, environments::functions(...), std::ref(shared));
//
// The tools stand in the order of the arguments. Where two environments have a tool of the same name the
// first one wins: it is listed once and called, so what is to override comes first (R-ENV-60).
//
// Thread rule: as the environments inside, one loop.

#include <thalweg/protocol/environment.hpp>
#include <thalweg/protocol/no_tools.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace thalweg {

namespace environments {

/// What combine() gives. An E may be a std::reference_wrapper: then the environment outlives this one.
template <class... E>
class combined {
    static_assert((check_environment<E>() && ...));

public:
    explicit combined(E... parts) : parts_(std::move(parts)...) {}

    [[nodiscard]] std::vector<tool_definition> tools() {
        std::vector<tool_definition> all;
        owners_.clear();
        gather(all, std::index_sequence_for<E...>());
        return all;
    }

    /// The lists are asked for again only if the name is new, because an environment may find its tools late.
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context context) {
        auto owner = owners_.find(call.name());
        if (owner == owners_.end()) {
            static_cast<void>(tools());
            owner = owners_.find(call.name());
        }
        if (owner == owners_.end()) return no_tools().execute(std::move(call), std::move(context));
        return execute_in<0>(owner->second, std::move(call), std::move(context));
    }

private:
    template <std::size_t... At>
    void gather(std::vector<tool_definition>& all, std::index_sequence<At...>) {
        (add(all, At, part<At>().tools()), ...);
    }
    void add(std::vector<tool_definition>& all, std::size_t at, std::vector<tool_definition> list) {
        for (tool_definition& each : list)
            if (owners_.try_emplace(each.name, at).second) all.push_back(std::move(each));
    }
    template <std::size_t At>
    auto& part() noexcept {
        std::unwrap_reference_t<std::tuple_element_t<At, std::tuple<E...>>>& it = std::get<At>(parts_);
        return it;
    }
    template <std::size_t At>
    stream<chunk, tool_result> execute_in(std::size_t owner, tool_call call, tool_context context) {
        if constexpr (At + 1 < sizeof...(E)) {
            if (owner != At) return execute_in<At + 1>(owner, std::move(call), std::move(context));
        }
        return part<At>().execute(std::move(call), std::move(context));
    }

    std::tuple<E...> parts_;
    std::unordered_map<text, std::size_t> owners_; // tool -> place in parts_
};

} // namespace environments

/// Joins environments into one; takes them over, or refers to them with std::ref.
template <class First, class... More>
[[nodiscard]] environments::combined<First, More...> combine(First first, More... more) {
    return environments::combined<First, More...>(std::move(first), std::move(more)...);
}

} // namespace thalweg
