# Finds a Java to run with: sourced by the launchers.
#
#   MILLRACE_JAVA_HOME, JAVA_HOME   where to look first; any from 17 on will do

# Prints a Java's feature release (17, 25, ...), or 0 if that is none.
release_of() {
  [ -x "$1/bin/java" ] || { echo 0; return; }
  if [ -r "$1/release" ]; then
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
  else
    "$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p;q'
  fi
}

# Sets java_home and java_release to those of the first that has the program, java or javac; false if there is none.
find_java() {
  local candidate on_path release
  on_path=$(command -v java || true)
  [ -z "$on_path" ] || on_path=$(dirname "$(dirname "$(readlink -f "$on_path")")")
  for candidate in "${MILLRACE_JAVA_HOME:-}" "${JAVA_HOME:-}" "$on_path" /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do
    [ -n "$candidate" ] && [ -x "$candidate/bin/$1" ] || continue
    release=$(release_of "$candidate")
    if [ "${release:-0}" -ge 17 ]; then
      java_home=$candidate
      java_release=$release
      return
    fi
  done
  return 1
}
