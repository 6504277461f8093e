# The steps by number, and the differences between two of them.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Prints the folders under steps/ in order.
list_steps() {
  (cd "$root/steps" 2>/dev/null && printf '%s\n' [0-9][0-9]-*/) | sed 's|/$||'
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

# steps_after STEP: prints the folders of the later steps.
steps_after() { list_steps | sed "0,/^$1\$/d"; }

# changes FOLDER FOLDER: prints a line for each file that differs: "new",
# "changed" or "gone", lines added, lines removed ("-" if the file is not text),
# and its path, separated by tabs. Tests come last.
changes() {
  local file kind added removed
  while IFS= read -r file; do
    kind=changed
    [[ -e $2/$file ]] || kind=gone
    [[ -e $1/$file ]] || kind=new
    if [[ $kind == changed ]] && cmp -s "$1/$file" "$2/$file"; then
      continue
    fi
    read -r added removed _ < <(diff_file "$1" "$2" "$file" --numstat) ||
      added=0 removed=0 # An empty file that is new or gone.
    printf '%s\t%s\t%s\t%s\n' "$kind" "$added" "$removed" "$file"
  done < <({ files_of "$1" && files_of "$2"; } | sort -u |
    sed -E 's/.*_((test|benchmark)\.cc|testing\.(cc|h))$/1&/; t; s/^/0/' |
    LC_ALL=C sort | cut -c 2-)
}

files_of() { (cd "$1" && find . -type f -printf '%P\n'); }

# diff_file FOLDER FOLDER FILE OPTION...: prints git's diff of one file, without
# the user's git settings.
diff_file() {
  local before=$1/$3 after=$2/$3
  [[ -e $before ]] || before=/dev/null
  [[ -e $after ]] || after=/dev/null
  GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
    GIT_CEILING_DIRECTORIES=$(realpath -s "$1/..") git diff --no-index \
    --no-prefix --no-renames --diff-algorithm=histogram "${@:4}" -- \
    "$before" "$after" || (($? == 1))
}
