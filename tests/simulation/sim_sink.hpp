// SPDX-License-Identifier: BSL-1.0

#pragma once

// A trace in memory that fails, is slow or deaf where the plan says so, and that outlives a simulated crash.

#include "simulation/coverage.hpp"
#include "simulation/mutants.hpp"

#include <thalweg/trace/memory_sink.hpp>

#include <functional>
#include <vector>

namespace thalweg::simulation {

class sim_sink final : public trace::sink {
public:
    enum class trouble : std::uint8_t { none, fails, slow, deaf };
    /// What the next write does; asked before each write with something to record.
    using plan = std::function<trouble()>;

    sim_sink(plan next, mutator& how, std::vector<std::vector<message>> files = {},
             std::vector<message> head = {});

    [[nodiscard]] task<result<void>> write(std::span<const message> messages) override;
    void rotate() override;
    [[nodiscard]] std::string_view path() const noexcept override { return "memory"; }

    /// What was recorded, file by file.
    [[nodiscard]] const std::vector<std::vector<message>>& files() const noexcept { return files_; }
    /// Some records were not written.
    [[nodiscard]] bool has_lost() const noexcept { return has_lost_; }

private:
    [[nodiscard]] task<result<void>> write_later(std::span<const message> messages, bool ever);
    [[nodiscard]] task<result<void>> write_now(std::span<const message> messages);
    void take_over();
    void keep(message m);

    plan next_;
    mutator* how_;
    trace::memory_sink inner_;
    std::vector<std::vector<message>> files_;
    std::size_t taken_files_ = 0;
    std::size_t taken_records_ = 0; // of the newest taken file
    bool begins_file_ = true;
    bool has_lost_ = false;
    std::vector<message> held_;
};

} // namespace thalweg::simulation
