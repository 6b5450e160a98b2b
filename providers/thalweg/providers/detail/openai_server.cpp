// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/detail/openai_server.hpp>

#include <array>

namespace thalweg::providers::detail {

bool is_openai(std::string_view base_url) {
    constexpr std::string_view official = "https://api.openai.com";
    return base_url == official || (base_url.starts_with(official) && base_url[official.size()] == '/');
}

std::string openai_base(std::string given) {
    if (given.empty()) given = wire::from_environment({"OPENAI_BASE_URL"});
    return given.empty() ? "https://api.openai.com/v1" : given;
}

const wire::request_rules& openai_rules(std::string_view base_url) {
    static constexpr std::array<std::string_view, 4> image_types = {"image/png", "image/jpeg", "image/gif",
                                                                    "image/webp"};
    static constexpr std::array<std::string_view, 5> nowhere_on_top = {"oneOf", "anyOf", "allOf", "enum",
                                                                       "not"};
    static constexpr wire::request_rules of_openai = {.server = "OpenAI",
                                                      .longest_name = 64,
                                                      .beside_letters = "_-",
                                                      .no_members_on_top = nowhere_on_top,
                                                      .image_types = image_types,
                                                      .largest_image = std::size_t{50} << 20};
    static constexpr wire::request_rules elsewhere = {.server = "the server"};
    return is_openai(base_url) ? of_openai : elsewhere;
}

} // namespace thalweg::providers::detail
