// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/context_repair.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

namespace thalweg {

namespace {

/// One answer's calls with their outputs, and the other user messages before the next answer.
class exchange_of_calls {
public:
    [[nodiscard]] bool is_waiting() const noexcept { return answered_ < calls_.size(); }
    [[nodiscard]] bool has_replies() const noexcept { return answered_ > 0 || !others_.empty(); }
    [[nodiscard]] std::size_t repairs() const noexcept { return repairs_; }

    /// False: there is one with this id already, or it never ran.
    [[nodiscard]] bool open(const message& made) {
        const bool ran = made.stop() == stop_reason::completed || made.stop() == stop_reason::none;
        if (!ran || !place_.try_emplace(made.tool_call_id(), calls_.size()).second) {
            ++repairs_;
            return false;
        }
        calls_.push_back({made, std::nullopt});
        return true;
    }
    void reply(message m) {
        if (m.kind() != kind::tool_call_output) return others_.push_back(std::move(m));
        const auto found = place_.find(m.tool_call_id());
        if (found == place_.end() || calls_[found->second].output) {
            ++repairs_;
            return;
        }
        calls_[found->second].output = std::move(m);
        ++answered_;
    }
    /// Outputs in call order, then the rest; empty then.
    void settle_into(std::vector<message>& list) {
        for (call& each : calls_) {
            if (!each.output) ++repairs_;
            list.push_back(each.output ? std::move(*each.output) : stand_in(each.made));
        }
        std::move(others_.begin(), others_.end(), std::back_inserter(list));
        calls_.clear();
        place_.clear();
        others_.clear();
        answered_ = 0;
    }

private:
    struct call {
        message made;
        std::optional<message> output;
    };

    static message stand_in(const message& made) {
        message output = message::tool_call_output(text(missing_output), made.tool_call_id())
                             .with_provider_id(made.provider_id())
                             .with_stop(stop_reason::aborted);
        if (made.has_timestamp()) output.stamp(made.timestamp());
        return output;
    }

    std::vector<call> calls_;
    std::unordered_map<text, std::size_t> place_; // of a call by its id
    std::vector<message> others_;
    std::size_t answered_ = 0;
    std::size_t repairs_ = 0;
};

} // namespace

std::size_t repair_context(std::vector<message>& history, std::vector<message>& carry_over) {
    std::vector<message> paired;
    paired.reserve(history.size());
    exchange_of_calls now;
    for (message& m : history) {
        if (m.role() == role::user) {
            now.reply(std::move(m));
            continue;
        }
        if (now.has_replies()) now.settle_into(paired);
        const bool is_kept = m.kind() != kind::tool_call || now.open(m);
        if (is_kept) paired.push_back(std::move(m));
    }
    if (!now.is_waiting()) now.settle_into(paired); // else its outputs are owed, all of them
    history = std::move(paired);

    std::vector<message> owed;
    for (message& m : carry_over)
        now.reply(std::move(m));
    now.settle_into(owed);
    carry_over = std::move(owed);
    return now.repairs();
}

} // namespace thalweg
