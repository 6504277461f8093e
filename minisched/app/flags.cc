#include "minisched/app/flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <utility>

namespace minisched {

class Flags::Impl {
 public:
  explicit Impl(const std::string& description) : app(description) {
    app.get_formatter()->column_width(36);
  }

  template <class T>
  void Add(const std::string& names, T* value, const std::string& help) {
    app.add_option(names, *value, help)->capture_default_str();
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

void Flags::Add(const std::string& names, int* value, const std::string& help) {
  impl_->Add(names, value, help);
}

void Flags::Add(const std::string& names, double* value,
                const std::string& help) {
  impl_->Add(names, value, help);
}

void Flags::Add(const std::string& names, bool* value,
                const std::string& help) {
  impl_->app.add_flag(names, *value, help);
}

void Flags::Add(const std::string& names, std::optional<std::uint64_t>* value,
                const std::string& help) {
  // Without the check, -1 would become 2^64 - 1.
  impl_->app.add_option(names, *value, help)->check(CLI::NonNegativeNumber);
}

void Flags::Add(const std::string& names, std::vector<std::string>* value,
                const std::string& help) {
  impl_->app.add_option(names, *value, help);
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
    std::cerr << program << ": " << error.what() << " (" << program
              << " --help lists the flags)\n";
    return 2;
  }
  return std::nullopt;
}

}  // namespace minisched
