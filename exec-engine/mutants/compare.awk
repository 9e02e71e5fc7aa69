# Compares what PIT found with what is explained: awk -F, -f compare.awk PACKAGE.txt.. mutations.csv
# Ends with 1 if a mutant lives on that nobody explained, or if fewer than 85 % of a package's are killed.

FILENAME ~ /\.txt$/ { # a line of explanations: class, method, mutator, how many at most, why
    if (FNR == 1) {
        package = FILENAME
        sub(/.*\//, "", package)
        sub(/\.txt$/, "", package)
    }
    if ($0 !~ /^[ \t]*(#|$)/ && $0 !~ /^(tests|memory) /) {
        fields = split($0, word, /[ \t]+/)
        if (fields < 5 || word[4] !~ /^[1-9][0-9]*$/) {
            printf "%s:%d is no explanation: class method mutator number reason\n", FILENAME, FNR
            failed = 1
        }
        explained[package "." word[1] " " word[2] " " word[3]] += word[4]
    }
    next
}

$6 == "NON_VIABLE" { next }

{ # a mutant: file, class, mutator, method, line, what became of it, the test that noticed it
    class = $2
    sub(/^dev\.millrace\.engine\./, "", class)
    package = class
    sub(/\..*/, "", package)
    sub(/.*\./, package ".", class) # the packages below it are explained with it
    mutator = $3
    sub(/.*\./, "", mutator)
    sub(/Mutator$/, "", mutator)
    all[package]++
    seen[class]
    if ($6 == "KILLED" || $6 == "TIMED_OUT" || $6 == "RUN_ERROR" || $6 == "MEMORY_ERROR") {
        killed[package]++
        next
    }
    key = class " " $4 " " mutator
    survived[key]++
    lines[key] = lines[key] "  " $1 ":" $5 " " $4 " " mutator ($6 == "NO_COVERAGE" ? ", which no test comes by" : "") "\n"
    packageOf[key] = package
}

END {
    for (key in survived) {
        known = survived[key] < explained[key] ? survived[key] : explained[key]
        reasons[packageOf[key]] += known
        if (known < survived[key]) {
            unexplained[packageOf[key]] += survived[key] - known
            printf "%d of %d explained:\n%s", known, survived[key], lines[key]
        }
    }
    for (key in explained) {
        split(key, word, " ")
        if ((word[1] in seen) && survived[key] + 0 < explained[key]) {
            printf "Explained %d times and seen %d times: %s\n", explained[key], survived[key], key
        }
    }
    for (package in all) {
        share = 100 * killed[package] / all[package]
        printf "%s: %d mutants, %d killed (%.1f %%), %d survivors explained, unexplained survivors: %d\n",
            package, all[package], killed[package], share, reasons[package], unexplained[package]
        failed = failed || unexplained[package] > 0 || share < 85
    }
    exit failed
}
