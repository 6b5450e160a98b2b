// SPDX-License-Identifier: BSL-1.0

#pragma once

// A provider whose type is chosen at run time: the program's `--provider`, a list of models in a file.
// Where the type is known, use it: nothing needs this class to be there.
//
// Thread rule: as the provider inside.

#include <thalweg/protocol/provider.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace thalweg {

/// Owns any provider; std::ref(x) makes it refer to x, which then outlives it. Movable, also while an answer
/// is being read: the provider inside stays where it is. Never empty until moved from.
class any_provider {
public:
    template <class P>
        requires(!std::same_as<std::remove_cvref_t<P>, any_provider>)
    any_provider(P&& inner) : inner_(std::make_unique<holder<std::decay_t<P>>>(std::forward<P>(inner))) {
        static_assert(check_provider<std::decay_t<P>>());
    }

    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) {
        return inner_->generate(std::move(request));
    }

private:
    struct base {
        virtual ~base() = default;
        virtual stream<delta, model_outcome> generate(model_request request) = 0;
    };
    template <class P>
    struct holder final : base {
        template <class From>
        explicit holder(From&& from) : inner(std::forward<From>(from)) {}
        stream<delta, model_outcome> generate(model_request request) override {
            std::unwrap_reference_t<P>& it = inner;
            return it.generate(std::move(request));
        }
        P inner;
    };

    std::unique_ptr<base> inner_;
};
static_assert(is_provider<any_provider>);

} // namespace thalweg
