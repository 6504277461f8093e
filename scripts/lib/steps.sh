# The steps by number, and the differences between two of them.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Prints the folders under steps/ in order.
list_steps() {
  (cd "$root/steps" 2>/dev/null && printf '%s\n' [0-9][0-9]-*/) | sed 's|/$||'
}

# Reads folders of steps from its input. Prints the first and the last one, or
# all of them if $MINISCHED_EVERY_STEP is ON.
steps_to_try() {
  if [[ ${MINISCHED_EVERY_STEP-} == ON ]]; then
    cat
  else
    sed -n '1p; $p'
  fi
}

# find_step NAME: prints the folder of "1", "01", "01-random-bind" or
# "steps/01-random-bind/".
find_step() {
  local name=${1#steps/} step
  name=${name%/}
  while read -r step; do
    [[ $step != "$name" ]] || break
    [[ ! $name =~ ^[0-9]+$ ]] || ((10#${step%%-*} != 10#$name)) || break
  done < <(list_steps)
  [[ -n $step ]] ||
    die "no such step: $1; the steps are $(list_steps | paste -s -d ' ')"
  printf '%s\n' "$step"
}

# reads_config PROGRAM: succeeds if the scheduler has a flag --config.
reads_config() { [[ $("$1" --help 2>&1) =~ (^|[[:space:]])--config[[:space:]] ]]; }

# steps_after STEP: prints the folders of the later steps.
steps_after() { list_steps | sed "0,/^$1\$/d"; }

is_test() { [[ $1 == tests/* ]]; }

# changes FOLDER FOLDER: prints a line for each file that differs: "new",
# "changed" or "gone", lines added, lines removed ("-" if the file is not text),
# and its path, separated by tabs. New files come last, but before the tests.
changes() {
  local file kind added removed
  while IFS= read -r file; do
    kind=changed
    [[ -e $2/$file ]] || kind=gone
    [[ -e $1/$file ]] || kind=new
    if [[ $1/$file -ef $2/$file ]] ||
      { [[ $kind == changed ]] && cmp -s "$1/$file" "$2/$file"; }; then
      continue
    fi
    read -r added removed _ < <(diff_file "$1" "$2" "$file" --numstat) ||
      added=0 removed=0 # An empty file that is new or gone.
    printf '%s\t%s\t%s\t%s\n' "$kind" "$added" "$removed" "$file"
  done < <({ files_of "$1" && files_of "$2"; } | LC_ALL=C sort -u) |
    LC_ALL=C awk -F '\t' -v OFS='\t' '
      { print ($4 ~ /^tests\//) * 2 + ($1 == "new"), $0 }' |
    LC_ALL=C sort -s -n -k 1,1 | cut -f 2-
}

files_of() { (cd "$1" && find . '(' -type f -o -type l ')' -printf '%P\n'); }

# diff_file FOLDER FOLDER FILE OPTION...: prints git's diff of one file, without
# the user's git settings. A link counts as the file that it links to.
diff_file() {
  local before=$1/$3 after=$2/$3
  before=$(resolve "$before" "$1/..")
  after=$(resolve "$after" "$1/..")
  GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
    GIT_CEILING_DIRECTORIES=$(realpath -s "$1/..") git diff --no-index \
    --no-prefix --no-renames --diff-algorithm=histogram "${@:4}" -- \
    "$before" "$after" || (($? == 1))
}

# resolve FILE FOLDER: prints the path of the file. For a link, the path of its
# target, relative to FOLDER; for a file that does not exist, /dev/null.
resolve() {
  if [[ -L $1 ]]; then
    realpath --relative-to "$2" "$1"
  elif [[ -e $1 ]]; then
    printf '%s\n' "$1"
  else
    printf '/dev/null\n'
  fi
}

# code_of FILE: prints a C++ file without blank lines, comments and includes.
code_of() {
  [[ ! -e $1 ]] ||
    grep -vE '^[[:space:]]*(//.*)?$|^#(include|pragma once)' "$1" || true
}

# link_tests: replaces each test that is the same in the step before by a link
# to the file in the step that added or changed it, and makes existing links
# point there. Prints the paths of the links that it makes.
link_tests() {
  local step before='' test file
  while read -r step; do
    for test in "$root/steps/$step/tests"/*; do
      file=$root/steps/$before/tests/${test##*/}
      [[ -n $before && -e $file ]] || continue
      file=$(realpath --relative-to "${test%/*}" "$file")
      if [[ -L $test ]]; then
        [[ $(readlink "$test") != "$file" ]] || continue
      else
        cmp -s "$test" "${test%/*}/$file" || continue
      fi
      ln -s -f "$file" "$test"
      printf '%s\n' "${test#"$root/"}"
    done
    before=$step
  done < <(list_steps)
}
