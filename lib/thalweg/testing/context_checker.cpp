// SPDX-License-Identifier: BSL-1.0

#include <thalweg/testing/context_checker.hpp>

#include <algorithm>
#include <vector>

namespace thalweg::testing {

namespace {

/// Walks over a context and keeps the calls of the last answer that still wait for their outputs.
class context_walk {
public:
    std::string take(const message& m) {
        if (m.kind() == kind::tool_call_output) return answer(m);
        if (m.role() == role::user) {
            std::string fault = settle("a user message comes before it");
            begin_batch();
            return fault;
        }
        if (in_outputs_) {
            std::string fault = settle("the next answer comes before it");
            begin_batch();
            if (!fault.empty()) return fault;
        }
        if (m.kind() == kind::tool_call) open_.push_back({m.tool_call_id().str(), false});
        return {};
    }
    [[nodiscard]] std::string settle(const char* why) const {
        for (const call& each : open_) {
            if (!each.answered) return "the call '" + each.id + "' has no output: " + why;
        }
        return {};
    }

private:
    void begin_batch() {
        open_.clear();
        in_outputs_ = skipped_ = false;
    }
    struct call {
        std::string id;
        bool answered;
    };

    std::string answer(const message& m) {
        in_outputs_ = true;
        const std::string id = m.tool_call_id().str();
        const auto found = std::find_if(open_.begin(), open_.end(),
                                        [&id](const call& c) { return c.id == id; });
        if (found == open_.end()) return "the output of '" + id + "' has no call in the answer before it";
        if (found->answered) return "the call '" + id + "' has two outputs";
        const bool skipped = std::any_of(open_.begin(), found, [](const call& c) { return !c.answered; });
        found->answered = true;
        if (skipped && m.stop() != stop_reason::aborted) skipped_ = true;
        if (!skipped && skipped_ && m.stop() != stop_reason::aborted) {
            return "the output of '" + id + "' is not in call order";
        }
        return {};
    }

    std::vector<call> open_;
    bool in_outputs_ = false;
    bool skipped_ = false;
};

} // namespace

std::string context_fault(std::span<const message> history, std::span<const message> input) {
    context_walk walk;
    for (const std::span<const message> part : {history, input}) {
        for (const message& m : part) {
            std::string fault = walk.take(m);
            if (!fault.empty()) return fault;
        }
    }
    return walk.settle("the context ends before it");
}

} // namespace thalweg::testing
