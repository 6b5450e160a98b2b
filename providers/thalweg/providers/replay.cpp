// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/replay.hpp>

#include <thalweg/async/loop.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>
#include <thalweg/providers/detail/exchange.hpp>
#include <thalweg/providers/detail/redactor.hpp>
#include <thalweg/providers/detail/request_key.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unordered_map>

namespace thalweg::providers {

namespace detail {

class player {
public:
    player(std::string path, replay_options options)
        : path_(std::move(path)), options_(std::move(options)), secrets_(options_.secrets) {
        read();
    }

    /// The next answer to `request`; nullptr: there is none, and `why` says why.
    [[nodiscard]] const exchange* find(const model_request& request, std::string& why) {
        if (fault_) {
            why = fault_->message();
            return nullptr;
        }
        const std::string asked = describe_request(request, secrets_, options_.rewrite);
        const request_key key(json::parse(asked).value());
        const auto found = by_key_.find(key.joined());
        if (found == by_key_.end()) {
            why = miss(key);
            return nullptr;
        }
        answers& known = found->second;
        if (known.next == known.lines.size()) {
            if (options_.repeated == when_played::miss) {
                why = played_out(known);
                return nullptr;
            }
            return &takes_[known.lines.back()].kept;
        }
        ++played_;
        return &takes_[known.lines[known.next++]].kept;
    }

    [[nodiscard]] bool keeps_pace() const noexcept { return options_.keep_pace; }
    [[nodiscard]] const std::optional<error>& fault() const noexcept { return fault_; }
    [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
    [[nodiscard]] std::size_t exchanges() const noexcept { return takes_.size(); }
    [[nodiscard]] std::size_t unplayed() const noexcept { return takes_.size() - played_; }

private:
    struct recorded_take {
        std::size_t line;
        request_key key;
        exchange kept;
    };
    struct answers {
        std::vector<std::size_t> lines; // places in takes_
        std::size_t next = 0;
    };

    void read() {
        errno = 0;
        std::ifstream file(path_, std::ios::binary);
        std::string line;
        std::size_t number = 0;
        while (!fault_ && std::getline(file, line))
            read_line(line, ++number);
        if (fault_ || file.eof()) return;
        const std::error_code why(errno != 0 ? errno : EIO, std::generic_category());
        fault_.emplace(why, "the recording " + path_ + " cannot be read: " + why.message() +
                                "; make it with providers::recording");
    }

    void read_line(std::string_view line, std::size_t number) {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
        const std::string place = "line " + std::to_string(number) + " of the recording " + path_;
        const auto broken = json::check(line);
        if (broken && (broken->at_end || utf8::is_cut_short(line))) {
            notes_.push_back(place + " is cut short, as by a crash; it is left out");
            return;
        }
        auto read = parse_exchange(line);
        if (!read) {
            fault_.emplace(read.error().code(), place + " is no exchange: " + read.error().message());
            return;
        }
        exchange& kept = read.value();
        request_key key(json::parse(kept.request).value());
        by_key_[key.joined()].lines.push_back(takes_.size());
        takes_.push_back({number, std::move(key), std::move(kept)});
    }

    [[nodiscard]] std::string miss(const request_key& asked) const {
        std::string sentence = "the recording " + path_ + " has no such request";
        if (takes_.empty()) return sentence + "; it has none at all";
        const auto nearest = std::min_element(takes_.begin(), takes_.end(),
                                              [&](const recorded_take& a, const recorded_take& b) {
                                                  return a.key.distance(asked) < b.key.distance(asked);
                                              });
        return sentence + ". The nearest is that of line " + std::to_string(nearest->line) +
               ", which first differs " + nearest->key.first_difference(asked) +
               ". Record again if the new request is right";
    }
    [[nodiscard]] std::string played_out(const answers& known) const {
        return "the recording " + path_ + " has this request " + std::to_string(known.lines.size()) +
               (known.lines.size() == 1 ? " time" : " times") + ", last in line " +
               std::to_string(takes_[known.lines.back()].line) + ", and all its answers have been played";
    }

    std::string path_;
    replay_options options_;
    redactor secrets_;
    std::optional<error> fault_;
    std::vector<std::string> notes_;
    std::vector<recorded_take> takes_;
    std::unordered_map<std::string, answers> by_key_;
    std::size_t played_ = 0;
};

namespace {

stream<delta, model_outcome> play(std::shared_ptr<player> from, model_request request) {
    const context here = co_await this_coroutine();
    if (here.stop_requested()) co_return model_outcome::aborted();
    std::string why;
    const exchange* const found = from->find(request, why);
    if (found == nullptr) co_return model_outcome::failed(std::move(why)).permanent();
    const exchange& kept = *found;
    const auto begun = here.loop().now();
    for (const kept_delta& each : kept.answer) {
        if (from->keeps_pace() && each.at) co_await sleep_for(begun + *each.at - here.loop().now());
        if (here.stop_requested()) co_return model_outcome::aborted();
        co_yield each.play();
    }
    if (from->keeps_pace() && kept.ended_at) {
        const bool waited = co_await sleep_for(begun + *kept.ended_at - here.loop().now());
        if (!waited) co_return model_outcome::aborted();
    }
    co_return kept.outcome;
}

} // namespace

} // namespace detail

replay::replay(std::string path, replay_options options)
    : player_(std::make_shared<detail::player>(std::move(path), std::move(options))) {}

stream<delta, model_outcome> replay::generate(model_request request) {
    return detail::play(player_, std::move(request));
}

const std::optional<error>& replay::fault() const noexcept {
    return player_->fault();
}

const std::vector<std::string>& replay::notes() const noexcept {
    return player_->notes();
}

std::size_t replay::exchanges() const noexcept {
    return player_->exchanges();
}

std::size_t replay::unplayed() const noexcept {
    return player_->unplayed();
}

} // namespace thalweg::providers
