# Packages and tools for the C++ code, and a function to build it.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# shellcheck disable=SC2034  # Used by scripts that source this file.
build_packages=(cmake esbuild g++ libbenchmark-dev libboost-dev libcli11-dev
  libcpprest-dev libexpected-dev libgmock-dev libgtest-dev
  libhowardhinnant-date-dev libprotozero-dev libspdlog-dev libssl-dev
  libyaml-cpp-dev ninja-build nlohmann-json3-dev pkg-config prometheus-cpp-dev
  zlib1g-dev)
# Also for the commands in the book.
# shellcheck disable=SC2034
run_packages=(curl jq)
# shellcheck disable=SC2034
check_packages=(git python3 python3-venv)
# The sanitizers' builds use the system's clang and lld.
# shellcheck disable=SC2034
sanitize_packages=(clang libclang-rt-dev lld)
# shellcheck disable=SC2034
book_packages=(git python3 python3-venv)

# The tools that check the format of files, in fixed versions, because other
# versions give other results. CMakePresets.json uses the folder too.
tools=$root/build/tools
install_tools() { make_venv "$tools" "$root/scripts/lib/tools.txt"; }

# What tests the live page: a browser, which is Debian's or that of $CHROMIUM,
# Node.js, and tools from PyPI.
browser_tools=$root/build/browser
install_browser_tools() {
  install_packages nodejs
  [[ -n ${CHROMIUM-} ]] || install_packages chromium
  make_venv "$browser_tools" "$root/scripts/lib/browser.txt"
}

# build PRESET [TARGET...]: builds, and prints the errors if the build fails.
# $MINISCHED_EVERY_STEP, ON or OFF, changes which tests are built.
build() {
  local preset=$1 log
  shift
  log=$root/build/$preset.log
  mkdir -p "$root/build"
  info "building${1:+ $*} ($preset) …"
  # The lock keeps two builds from using the same folder at the same time.
  (cd "$root" && exec 9>"$log.lock" && flock 9 && cmake --preset "$preset" \
    ${MINISCHED_EVERY_STEP:+"-DMINISCHED_EVERY_STEP=$MINISCHED_EVERY_STEP"} &&
    cmake --build --preset "$preset" ${1:+--target "$@"}) >"$log" 2>&1 || {
    grep -E 'error|FAILED|CMake Error' -A 6 "$log" | head -n 60 >&2
    die "the build failed: see the errors above, or all output in $log"
  }
}
