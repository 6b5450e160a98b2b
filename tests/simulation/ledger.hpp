// SPDX-License-Identifier: BSL-1.0

#pragma once

// The books of one session: what was put into it, each with a mark of its own (`<m17>`), and what its model
// got. Each input reaches the model exactly once or is still waiting; the context only grows, by
// the input and the answer of a completed request (R-ENG-02, R-PRO-50).

#include <thalweg/protocol/message.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace thalweg::simulation {

using mark = std::uint32_t;

/// The text form of a mark.
[[nodiscard]] std::string spell(mark m);
/// All marks in a text, in order.
void find_marks(std::string_view in, std::vector<mark>& into);
/// All marks in what a user or a tool said.
[[nodiscard]] std::vector<mark> input_marks(std::span<const message> messages);

class ledger {
public:
    using complain_function = std::function<void(std::string)>;
    explicit ledger(complain_function complain) : complain_(std::move(complain)) {}

    /// From now on `m` has to reach the model.
    void expect(mark m) { expected_.insert(m); }
    /// Not any more: it may be lost by the rules.
    void excuse(mark m) { expected_.erase(m); }
    [[nodiscard]] bool is_expected(mark m) const { return expected_.contains(m); }

    /// A request, as the model gets it.
    void on_request(int context_number, std::span<const message> history, std::span<const message> input);
    /// A summary that the program makes by itself.
    void on_summarizer(std::span<const message> context, std::span<const message> owed);
    /// No run goes on: the whole context, and what waits to be submitted (notices not included).
    void settle(int context_number, std::span<const message> context, std::span<const message> waiting,
                const std::set<mark>& unsaid_notices);
    /// Begins anew with what a resume found; `earlier`: marks in files of contexts that are over.
    void restart(const std::vector<mark>& earlier, std::span<const message> history);

    [[nodiscard]] const std::set<mark>& expected() const noexcept { return expected_; }
    [[nodiscard]] bool has_reached(mark m) const { return reached_.contains(m); }

private:
    void look(int context_number, std::span<const message> history);
    void reach(mark m);
    void check_growth(std::span<const message> grown);

    complain_function complain_;
    std::set<mark> expected_;
    std::set<mark> reached_;
    int context_number_ = 0;
    std::size_t seen_ = 0; // messages of the context that were looked at
    std::uint64_t fingerprint_ = 0;
    std::vector<message> last_input_; // of the last request; nothing once it was seen in the context
    bool has_last_ = false;
};

} // namespace thalweg::simulation
