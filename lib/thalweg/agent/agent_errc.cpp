// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_errc.hpp>

#include <string>

namespace thalweg {

namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "thalweg.agent"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<agent_errc>(value)) {
        case agent_errc::busy: return "a run is going on";
        case agent_errc::empty: return "there is nothing to continue from";
        case agent_errc::assistant_tail: return "the last message is the model's own";
        case agent_errc::aborted: return "the run was aborted";
        case agent_errc::model_failed: return "the request to the model failed";
        case agent_errc::hook_failed: return "a hook failed";
        case agent_errc::bad_prompt: return "not a prompt";
        case agent_errc::mismatch: return "the answer does not fit the type";
        }
        return "unknown agent error";
    }
};

} // namespace

std::error_code make_error_code(agent_errc e) noexcept {
    static const category instance;
    return {static_cast<int>(e), instance};
}

} // namespace thalweg
