// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/demo.hpp>

#include <thalweg/async/sleep.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <sstream>

namespace thalweg::environments {

namespace {

/// FNV-1a: chance that repeats itself.
std::uint64_t chance(std::string_view seed, std::uint64_t number) {
    std::uint64_t hash = 14695981039346656037U;
    const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 1099511628211U; };
    for (char c : seed)
        mix(static_cast<unsigned char>(c));
    for (int shift = 0; shift < 64; shift += 8)
        mix(static_cast<unsigned char>(number >> shift));
    return hash ^ (hash >> 32);
}

struct forecast_args {
    std::string city;
    int days = 3;
    static constexpr doc docs[] = {{"city", "Name of the city"}, {"days", "How far ahead, 1 to 14"}};
};
BOOST_DESCRIBE_STRUCT(forecast_args, (), (city, days))

stream<chunk, tool_result> forecast(forecast_args args) {
    static constexpr std::array skies{"sun", "some clouds", "clouds", "drizzle", "rain", "wind", "fog"};
    if (args.days < 1 || args.days > 14) co_return tool_result::failed("days: expected 1 to 14");
    for (int day = 1; day <= args.days; ++day) {
        const bool waited = co_await sleep_for(std::chrono::milliseconds(200));
        if (!waited) co_return tool_result::aborted();
        const std::uint64_t drawn = chance(args.city, static_cast<std::uint64_t>(day));
        const std::string sky = skies[drawn % skies.size()];
        const std::string degrees = std::to_string(5 + (drawn >> 16) % 20);
        co_yield chunk::progress("day " + std::to_string(day) + " of " + std::to_string(args.days));
        co_yield chunk::text(args.city + ", day " + std::to_string(day) + ": " + sky + ", " + degrees +
                             " C\n");
    }
    co_return tool_result::completed();
}

struct dice_args {
    int dice = 1;
    int sides = 6;
    std::string seed = "thalweg";
    static constexpr doc docs[] = {{"dice", "How many, 1 to 100"},
                                   {"sides", "2 to 1000"},
                                   {"seed", "The same seed gives the same roll"}};
};
BOOST_DESCRIBE_STRUCT(dice_args, (), (dice, sides, seed))

struct dice_roll {
    std::vector<int> rolled;
    int total = 0;
};
BOOST_DESCRIBE_STRUCT(dice_roll, (), (rolled, total))

result<dice_roll> roll_dice(const dice_args& args) {
    const auto wrong = [](const char* sentence) {
        return failure(std::make_error_code(std::errc::invalid_argument), sentence);
    };
    if (args.dice < 1 || args.dice > 100) return wrong("dice: expected 1 to 100");
    if (args.sides < 2 || args.sides > 1000) return wrong("sides: expected 2 to 1000");
    dice_roll roll;
    for (int i = 0; i < args.dice; ++i) {
        const auto sides = static_cast<std::uint64_t>(args.sides);
        roll.rolled.push_back(static_cast<int>(chance(args.seed, static_cast<std::uint64_t>(i)) % sides) + 1);
        roll.total += roll.rolled.back();
    }
    return roll;
}

struct words_args {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(words_args, (), (text))

std::string count_words(words_args args) {
    std::istringstream words(args.text);
    std::size_t count = 0;
    for (std::string word; words >> word;)
        ++count;
    return std::to_string(count) + (count == 1 ? " word" : " words");
}

struct delete_args {
    std::string path = "/";
};
BOOST_DESCRIBE_STRUCT(delete_args, (), (path))

std::string delete_everything(delete_args args) {
    return "Deleted nothing below " + args.path + ": this is a demo.";
}

} // namespace

functions demo() {
    return functions(
        tool("forecast", "Weather forecast for a city, a line per day", forecast).label("Forecast"),
        tool("roll_dice", "Rolls dice", roll_dice).label("Dice"),
        tool("count_words", "Counts the words of a text", blocking(count_words)).label("Word count"),
        tool("delete_everything", "Deletes everything below a path", delete_everything)
            .label("Delete everything"));
}

} // namespace thalweg::environments
