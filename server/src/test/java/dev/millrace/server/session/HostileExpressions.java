package dev.millrace.server.session;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** Expressions that are made to take long, to nest deeply or to overflow, over the columns of {@link #TABLE}. */
final class HostileExpressions {
    /** Texts of many equal letters, of a megabyte and of odd bytes; numbers, times and JSON values at their ends. */
    static final List<String> TABLE = List.of(
            "CREATE TABLE hostile (id INT PRIMARY KEY, s TEXT, j JSONB, n DOUBLE PRECISION, i INTERVAL, ts TIMESTAMP)",
            "INSERT INTO hostile VALUES (1, repeat('a', 40) || 'b', '[1, [2, [3, {\"a\": {\"a\": [4]}}]]]', 0, '1 month', '2020-02-29'),"
                    + " (2, repeat('ab', 20000), '{\"a\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"}', 'NaN', '-178000000 years', '9999-12-31'),"
                    + " (3, repeat('x', 1000000), '{}', '-Infinity', '0', '0001-01-01'),"
                    + " (4, '', 'null', 1e308, '2147483647 days', NULL), (5, NULL, NULL, NULL, NULL, '1970-01-01')",
            "INSERT INTO hostile SELECT 6, repeat('ü日', 500), (repeat('[', 200) || repeat(']', 200))::jsonb, -0.0, '1 us', now()");

    private final SplittableRandom random;

    HostileExpressions(long seed) {
        random = new SplittableRandom(seed);
    }

    /** A query over the table. */
    String query() {
        String condition = pick(List.<Supplier<String>>of(
                        this::regularExpression,
                        this::like,
                        this::replacement,
                        this::path,
                        this::format,
                        this::time,
                        this::nesting))
                .get();
        return "SELECT count(*) FROM hostile WHERE (" + condition + ") IS NOT NULL";
    }

    private <T> T pick(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private String pick(String... of) {
        return of[random.nextInt(of.length)];
    }

    private int count() {
        return pick(List.of(1, 2, 3, 10, 30, 255, 1000, 20_000));
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    // ---- regular expressions
    // -------------------------------------------------------------------------------------------

    private String pattern(int depth) {
        StringBuilder pattern = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0; i--) {
            String atom = depth > 0 && random.nextInt(2) == 0
                    ? pick("(", "(?:", "(", "(?=", "(?!", "(?<=") + pattern(depth - 1) + ")"
                    : pick("a", "b", "x", ".", "[^b]", "\\w", "\\1", "\\m", "$", "^", "ü", "[[:alpha:]]", "");
            pattern.append(atom)
                    .append(pick("", "*", "+", "?", "*?", "+?", "{" + random.nextInt(256) + "}", "{0,30}", "{2,}?"));
            pattern.append(random.nextInt(4) == 0 ? "|" : "");
        }
        return pattern.toString();
    }

    private String anyPattern() {
        return quoted(pick(List.<Supplier<String>>of(
                        () -> pick("(a+)+$", "(a|aa)+$", "(a?){30}a{30}", "(.*)*\\1b", "((a*)*)*c", "(x+x+)+y"),
                        () -> pattern(4),
                        () -> "(".repeat(count()) + "a" + ")".repeat(count()),
                        () -> "a?".repeat(count()) + "a".repeat(count()),
                        () -> "(a|".repeat(count()) + "b",
                        () -> "(.*)".repeat(Math.min(count(), 30)) + "\\1\\2y",
                        () -> "[" + "a-z".repeat(count()) + "]+$",
                        () -> "(?<=" + pattern(2) + ")" + pattern(2)))
                .get());
    }

    private String regularExpression() {
        String operator = pick("~", "~*", "!~", "!~*");
        return pick(
                "s " + operator + " " + anyPattern(),
                "s SIMILAR TO " + anyPattern(),
                "regexp_count(s, " + anyPattern() + ") > 0",
                "regexp_match(s, " + anyPattern() + ", " + quoted(pick("", "i", "n", "x", "q", "iw")) + ")",
                "regexp_split_to_array(s, " + anyPattern() + ")",
                "regexp_instr(s, " + anyPattern() + ", 1, " + count() + ")",
                "substring(s from " + anyPattern() + ")",
                "substring(s similar " + anyPattern() + " escape '#')");
    }

    private String replacement() {
        return "regexp_replace(s, " + anyPattern() + ", " + quoted(pick("", "\\1\\1", "\\&\\&", "x")) + ", "
                + quoted(pick("g", "gi", "")) + ")";
    }

    private String like() {
        String pattern = pick(
                "%a".repeat(count()) + "c",
                "%_".repeat(count()) + "y",
                "_%".repeat(count()),
                "%" + "ab_".repeat(count()) + "%",
                "\\%".repeat(count()) + "%",
                "%x".repeat(count()));
        return "s " + pick("LIKE", "NOT LIKE", "ILIKE") + " " + quoted(pattern);
    }

    // ---- JSON paths
    // ----------------------------------------------------------------------------------------------------

    private String path() {
        String path = pick(
                "$" + ".**".repeat(Math.min(count(), 12)),
                "$" + ".a".repeat(count()),
                "$" + "[*]".repeat(count()),
                "$.** ? (@.** == @.**)",
                "$.** ? (exists(@.** ? (exists(@.** ? (@ == 1)))))",
                "$.a ? (@ like_regex " + '"' + "(a+)+$" + '"' + ")",
                "-".repeat(count()) + "1",
                "(".repeat(count()) + "$" + ")".repeat(count()),
                "$ ? (" + "!(".repeat(count()) + "@ == 1" + ")".repeat(count()) + ")",
                "1e" + count() + "00000 * 2",
                "$[" + "last - ".repeat(count()) + "1]",
                "$.**{" + count() + " to last}.** ? (@ > 1 || " + "@ < 2 || ".repeat(count()) + "@ == 3)");
        return pick("jsonb_path_query_first", "jsonb_path_exists", "jsonb_path_query_array") + "(j, " + quoted(path)
                + ")";
    }

    // ---- formats and times
    // ---------------------------------------------------------------------------------------------

    private String template() {
        StringBuilder template = new StringBuilder();
        for (int i = Math.min(count(), 300); i >= 0; i--) {
            template.append(pick(
                    "YYYY", "FMYYYY", "MM", "RM", "rm", "Month", "DD", "DDD", "HH12", "HH24", "MI", "SS", "US", "TZ",
                    "J", "Q", "W", "IYYY", "IW", "CC", "AD", "th", "FM", "9", "0", "D", "S", "EEEE", "PR", "V", "L",
                    "RN", ",", ".", "G", "\"x", "\"", "-", " ", "é"));
        }
        return quoted(template.toString());
    }

    private String format() {
        return pick(
                "to_char(n, " + template() + ")",
                "to_char(ts, " + template() + ")",
                "to_char(i, " + template() + ")",
                "to_timestamp(s, " + template() + ")",
                "to_date(right(s, 20), " + template() + ")",
                "to_number(left(s, 50), " + template() + ")",
                "to_char(id * 1e" + random.nextInt(30) + ", " + template() + ")",
                "lpad(s, " + count() + "000, " + quoted("ab") + ")",
                "repeat(s, " + count() + ")",
                "format('%" + count() + "s|%I|%L', s, id, s)");
    }

    private String time() {
        return pick(
                "i * " + pick("1e300", "-1", "0", "1e-300", "n"),
                "i / " + pick("1e-300", "n", "0.0"),
                "i + interval '" + count() + "0000 years'",
                "ts + i",
                "ts - interval '" + count() + "000 days'",
                "age(ts, timestamp '0001-01-01')",
                "date_trunc(" + quoted(pick("century", "week", "us", "millennium")) + ", ts)",
                "extract(" + pick("julian", "epoch", "week", "isoyear", "century") + " from ts)",
                "date_bin(i, ts, timestamp '2000-01-01')",
                "make_timestamp(" + count() + ", 12, 31, 23, 59, 59.9999999)",
                "make_interval(years => " + count() + "00000, secs => n)",
                "justify_interval(i - interval '1 us')",
                "to_timestamp(n)",
                "ts AT TIME ZONE " + quoted(pick("UTC+2", "+99", "Europe/Berlin", "nosuch", "+")));
    }

    // ---- nesting
    // -------------------------------------------------------------------------------------------------------

    private String nesting() {
        int depth = count();
        return pick(
                "(".repeat(depth) + "n" + ")".repeat(depth),
                "NOT ".repeat(depth) + "(n > 1)",
                "abs(".repeat(depth) + "n" + ")".repeat(depth),
                "- ".repeat(depth) + "n",
                "n" + " + n".repeat(depth),
                "s" + " || s".repeat(Math.min(depth, 300)),
                "CASE WHEN n > 1 THEN ".repeat(Math.min(depth, 1000)) + "1" + " END".repeat(Math.min(depth, 1000)),
                "ARRAY[".repeat(depth) + "n" + "]".repeat(depth),
                "(" + quoted("[".repeat(depth) + "]".repeat(depth)) + ")::jsonb",
                "j" + " -> 0".repeat(depth),
                "n IN (" + String.join(", ", numbers(depth)) + ")");
    }

    private static List<String> numbers(int count) {
        List<String> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(i + ".5");
        }
        return numbers;
    }
}
