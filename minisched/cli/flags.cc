#include "minisched/cli/flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <utility>

#include "minisched/api/parse_error.h"
#include "minisched/base/printable.h"

namespace minisched {
namespace {

// Returns "" if the text is a number from `min` to `max`, and otherwise an
// error. CLI11 itself takes "" for 0, and a number that is too large for the
// largest. `shown_max` is `max` in the error.
template <class T>
std::string CheckWholeNumber(const std::string& text, T min, T max,
                             const std::string& shown_max) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec == std::errc() && result.ptr == end && number >= min &&
      number <= max) {
    return "";
  }
  return Quoted(text) + " is not a whole number from " + std::to_string(min) +
         " to " + shown_max;
}

}  // namespace

class Flags::Impl {
 public:
  explicit Impl(const std::string& description) : app(description) {
    app.get_formatter()->column_width(36);
  }

  template <class T>
  CLI::Option* Add(const std::string& names, T* value,
                   const std::string& help) {
    return app.add_option(names, *value, help)->capture_default_str();
  }

  CLI::App app;
};

Flags::Flags(const std::string& description)
    : impl_(std::make_unique<Impl>(description)) {}

Flags::~Flags() = default;

void Flags::Add(const std::string& names, std::string* value,
                const std::string& help) {
  impl_->Add(names, value, help);
}

void Flags::Add(const std::string& names, int* value, const std::string& help,
                int min, int max) {
  impl_->Add(names, value, help)->check([=](const std::string& text) {
    return CheckWholeNumber(text, min, max, std::to_string(max));
  });
}

void Flags::AddNonEmpty(const std::string& names, std::string* value,
                        const std::string& help) {
  impl_->Add(names, value, help)->check([](const std::string& text) {
    return text.empty() ? "must not be empty" : "";
  });
}

void Flags::Add(const std::string& names, bool* value,
                const std::string& help) {
  impl_->app.add_flag(names, *value, help);
}

void Flags::Add(const std::string& names, std::optional<std::uint64_t>* value,
                const std::string& help) {
  impl_->app.add_option(names, *value, help)
      ->check([](const std::string& text) {
        constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
        return CheckWholeNumber(text, std::uint64_t{0}, kMax, "2^64 - 1");
      });
}

void Flags::Add(const std::string& names, std::vector<std::string>* value,
                const std::string& help) {
  impl_->app.add_option(names, *value, help);
}

void Flags::AddRepeated(const std::string& names,
                        std::vector<std::string>* value,
                        const std::string& help) {
  impl_->app.add_option(names, *value, help)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void Flags::Add(const std::string& names,
                std::function<void(const std::string&)> parse,
                const std::string& value_name, const std::string& help) {
  impl_->app
      .add_option_function<std::string>(
          names,
          [names, parse = std::move(parse)](const std::string& value) {
            try {
              parse(value);
            } catch (const std::exception& error) {
              throw CLI::ValidationError(names, error.what());
            }
          },
          help)
      ->type_name(value_name);
}

void Flags::AddCount(const std::string& names, int* value,
                     const std::string& help) {
  impl_->app.add_flag(names, *value, help);
}

std::optional<int> Flags::Parse(int argc, const char* const* argv,
                                const std::string& version) {
  const std::string program = std::filesystem::path(argv[0]).filename();
  impl_->app.name(program);
  impl_->app.set_version_flag("--version", program + " " + version,
                              "Print the version and exit");
  try {
    impl_->app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    impl_->app.exit(done);  // prints the help or the version
    return 0;
  } catch (const CLI::Error& error) {
    std::cerr << program << ": " << Printable(error.what()) << " (" << program
              << " --help lists the flags)\n";
    return 2;
  }
  return std::nullopt;
}

bool Flags::IsGiven(const std::string& name) const {
  return impl_->app.count(name) > 0;
}

}  // namespace minisched
