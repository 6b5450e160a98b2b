// SPDX-License-Identifier: BSL-1.0

#pragma once

// An environment whose type is chosen at run time: the program's `--tools`, a list of plugins.
// Where the type is known, use it: nothing needs this class to be there.
//
// Thread rule: as the environment inside, which is to say one loop.

#include <thalweg/protocol/environment.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

/// Owns any environment; std::ref(x) makes it refer to x, which then outlives it. Movable, never empty until
/// moved from.
class any_environment {
public:
    template <class E>
        requires(!std::same_as<std::remove_cvref_t<E>, any_environment>)
    any_environment(E&& inner) : inner_(std::make_unique<holder<std::decay_t<E>>>(std::forward<E>(inner))) {
        static_assert(check_environment<std::decay_t<E>>());
    }

    [[nodiscard]] std::vector<tool_definition> tools() { return inner_->tools(); }
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context context) {
        return inner_->execute(std::move(call), std::move(context));
    }

private:
    struct base {
        virtual ~base() = default;
        virtual std::vector<tool_definition> tools() = 0;
        virtual stream<chunk, tool_result> execute(tool_call call, tool_context context) = 0;
    };
    template <class E>
    struct holder final : base {
        template <class From>
        explicit holder(From&& from) : inner(std::forward<From>(from)) {}
        std::unwrap_reference_t<E>& get() noexcept { return inner; }
        std::vector<tool_definition> tools() override { return get().tools(); }
        stream<chunk, tool_result> execute(tool_call call, tool_context context) override {
            return get().execute(std::move(call), std::move(context));
        }
        E inner;
    };

    std::unique_ptr<base> inner_;
};
static_assert(is_environment<any_environment>);

} // namespace thalweg
