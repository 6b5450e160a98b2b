// SPDX-License-Identifier: BSL-1.0

#pragma once

// The model and the tools as the engine sees them: erased, so that the engine is compiled once and not per
// combination of provider and environment. One indirect call per request and per tool call; none per delta.

#include <thalweg/protocol/environment.hpp>
#include <thalweg/protocol/provider.hpp>

#include <concepts>
#include <utility>
#include <vector>

namespace thalweg {

/// Refers to a provider, which must outlive it.
class provider_ref {
public:
    template <Provider P>
        requires(!std::same_as<P, provider_ref>)
    explicit provider_ref(P& p) noexcept
        : object_(&p), generate_([](void* object, model_request request) {
              return static_cast<P*>(object)->generate(std::move(request));
          }) {}

    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) const {
        return generate_(object_, std::move(request));
    }

private:
    void* object_;
    stream<delta, model_outcome> (*generate_)(void*, model_request);
};

/// Refers to an environment, which must outlive it.
class environment_ref {
public:
    template <Environment E>
        requires(!std::same_as<E, environment_ref>)
    explicit environment_ref(E& e) noexcept
        : object_(&e),
          tools_(
              [](void* object) -> std::vector<tool_definition> { return static_cast<E*>(object)->tools(); }),
          execute_([](void* object, tool_call call, tool_context ctx) {
              return static_cast<E*>(object)->execute(std::move(call), std::move(ctx));
          }) {}

    [[nodiscard]] std::vector<tool_definition> tools() const { return tools_(object_); }
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context ctx) const {
        return execute_(object_, std::move(call), std::move(ctx));
    }

private:
    void* object_;
    std::vector<tool_definition> (*tools_)(void*);
    stream<chunk, tool_result> (*execute_)(void*, tool_call, tool_context);
};

} // namespace thalweg
