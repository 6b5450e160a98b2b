// SPDX-License-Identifier: BSL-1.0

#pragma once

// Refers to a provider of any type without owning it, so that what stands around providers is compiled once.
// Two pointers; the provider outlives the streams that were asked for. For the headers of this room.

#include <thalweg/protocol/provider.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace thalweg::providers::detail {

class provider_ref {
public:
    /// `P` may be a std::reference_wrapper: then it is what that refers to.
    template <class P>
    static provider_ref to(P& provider) noexcept {
        using type = std::remove_reference_t<std::unwrap_reference_t<P>>;
        type& it = provider;
        return provider_ref(std::addressof(it), [](void* self, model_request request) {
            return static_cast<type*>(self)->generate(std::move(request));
        });
    }

    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) const {
        return generate_(provider_, std::move(request));
    }

private:
    using function = stream<delta, model_outcome> (*)(void*, model_request);
    provider_ref(void* provider, function generate) noexcept : provider_(provider), generate_(generate) {}

    void* provider_;
    function generate_;
};

} // namespace thalweg::providers::detail
