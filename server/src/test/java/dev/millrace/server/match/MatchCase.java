package dev.millrace.server.match;

import dev.millrace.server.match.ReferenceMatcher.Mapped;
import dev.millrace.server.match.ReferenceMatcher.Pattern;
import dev.millrace.server.match.ReferenceMatcher.Row;
import dev.millrace.server.match.ReferenceMatcher.Undecided;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A random MATCH_RECOGNIZE, as SQL and as what {@link ReferenceMatcher} needs to answer it. */
final class MatchCase {
    private static final List<String> NAMES = List.of("a", "b", "c");

    /** A measure; {@code rows} are those it sees, of all mapped ones. */
    private record Measure(String sql, BiFunction<ReferenceMatcher, Sight, String> value) {}

    /** What a measure sees at a row. */
    record Sight(List<Mapped> soFar, List<Mapped> whole, long number) {}

    private enum Rows {
        ONE("ONE ROW PER MATCH"),
        ALL("ALL ROWS PER MATCH"),
        SHOW("ALL ROWS PER MATCH SHOW EMPTY MATCHES"),
        OMIT("ALL ROWS PER MATCH OMIT EMPTY MATCHES"),
        UNMATCHED("ALL ROWS PER MATCH WITH UNMATCHED ROWS");

        private final String sql;

        Rows(String sql) {
            this.sql = sql;
        }
    }

    private final SplittableRandom random;
    private final Pattern pattern;
    private final List<String> defines = new ArrayList<>();
    private final List<ReferenceMatcher.Condition> conditions = new ArrayList<>();
    private final List<Measure> measures = new ArrayList<>();
    private final Rows rows;
    private final long within;
    private final int skip; // 0 past last row, 1 to next row, 2 to first b, 3 to last b
    private boolean excludes;

    MatchCase(long seed, boolean standing) {
        this.random = new SplittableRandom(seed);
        Pattern body = pattern(3);
        if (!standing && random.nextInt(8) == 0) {
            body = random.nextBoolean()
                    ? new Pattern.Sequence(List.of(new Pattern.Start(), body))
                    : new Pattern.Sequence(List.of(body, new Pattern.End()));
        }
        this.pattern = body;
        for (int variable = 0; variable < NAMES.size(); variable++) {
            condition(variable);
        }
        Rows chosen = Rows.values()[random.nextInt(5)];
        this.rows = excludes && chosen == Rows.UNMATCHED ? Rows.ALL : chosen;
        this.within = random.nextInt(3) == 0 ? 1 + random.nextInt(8) : -1;
        this.skip = Math.max(0, random.nextInt(8) - 4);
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            measures.add(measure());
        }
    }

    // ---- the pattern -----------------------------------------------------------------------------------------------

    private Pattern pattern(int depth) {
        int kind = depth == 0 ? 0 : random.nextInt(10);
        if (kind < 2) {
            return new Pattern.Variable(random.nextInt(NAMES.size()));
        } else if (kind < 5) {
            return new Pattern.Sequence(parts(depth, 2 + random.nextInt(2)));
        } else if (kind < 6) {
            return new Pattern.Choice(parts(depth, 2));
        } else if (kind < 9) {
            int least = random.nextInt(3) == 0 ? random.nextInt(3) : random.nextInt(2);
            OptionalInt most = random.nextInt(3) == 0
                    ? OptionalInt.of(Math.max(1, least + random.nextInt(3)))
                    : OptionalInt.empty();
            return new Pattern.Repeated(pattern(depth - 1), least, most, random.nextInt(4) > 0);
        } else if (random.nextBoolean() && !excludes) {
            excludes = true;
            return new Pattern.Excluded(new Pattern.Variable(random.nextInt(NAMES.size())));
        }
        return new Pattern.Permuted(parts(depth, 2));
    }

    private List<Pattern> parts(int depth, int count) {
        return IntStream.range(0, count).mapToObj(i -> pattern(depth - 1)).toList();
    }

    private static String sql(Pattern pattern) {
        if (pattern instanceof Pattern.Variable variable) {
            return NAMES.get(variable.variable());
        } else if (pattern instanceof Pattern.Sequence sequence) {
            return sequence.parts().stream().map(MatchCase::sql).collect(Collectors.joining(" ", "(", ")"));
        } else if (pattern instanceof Pattern.Choice choice) {
            return choice.parts().stream().map(MatchCase::sql).collect(Collectors.joining(" | ", "(", ")"));
        } else if (pattern instanceof Pattern.Permuted permuted) {
            return permuted.parts().stream().map(MatchCase::sql).collect(Collectors.joining(", ", "PERMUTE(", ")"));
        } else if (pattern instanceof Pattern.Excluded excluded) {
            return "{- " + sql(excluded.body()) + " -}";
        } else if (pattern instanceof Pattern.Start) {
            return "^";
        } else if (pattern instanceof Pattern.End) {
            return "$";
        }
        Pattern.Repeated repeated = (Pattern.Repeated) pattern;
        int least = repeated.least();
        String times = repeated.most().isPresent()
                ? "{" + (least == 0 ? "" : least) + "," + repeated.most().getAsInt() + "}"
                : least == 0 ? "*" : least == 1 ? "+" : "{" + least + ",}";
        return "(" + sql(repeated.body()) + ")" + times + (repeated.greedy() ? "" : "?");
    }

    // ---- DEFINE ----------------------------------------------------------------------------------------------------

    private static List<Mapped> of(List<Mapped> mapped, int variable) {
        return mapped.stream().filter(each -> each.variable() == variable).toList();
    }

    private static Optional<Integer> x(ReferenceMatcher matcher, List<Mapped> mapped, int index) {
        return index < 0 || index >= mapped.size()
                ? Optional.empty()
                : matcher.rows().get(mapped.get(index).row()).x();
    }

    private static int last(List<Mapped> mapped) {
        return mapped.get(mapped.size() - 1).row();
    }

    /** Whether both are there and the first is less. */
    private static boolean less(Optional<Integer> left, Optional<Integer> right) {
        return left.isPresent() && right.isPresent() && left.get() < right.get();
    }

    private void condition(int variable) {
        String name = NAMES.get(variable);
        int other = random.nextInt(NAMES.size());
        String otherName = NAMES.get(other);
        int k = random.nextInt(10);
        int n = 1 + random.nextInt(3);
        switch (random.nextInt(11)) {
            case 0 -> add("", (matcher, soFar) -> true);
            case 1 ->
                add(
                        "x > " + k,
                        (m, soFar) ->
                                less(Optional.of(k), m.rows().get(last(soFar)).x()));
            case 2 ->
                add(
                        name + ".x < PREV(" + name + ".x)",
                        (m, soFar) -> less(
                                m.rows().get(last(soFar)).x(),
                                m.row(last(soFar) - 1).flatMap(Row::x)));
            case 3 ->
                add(
                        "PREV(x, " + n + ") < x",
                        (m, soFar) -> less(
                                m.row(last(soFar) - n).flatMap(Row::x),
                                m.rows().get(last(soFar)).x()));
            case 4 ->
                add(
                        "x < NEXT(x)",
                        (m, soFar) -> less(
                                m.rows().get(last(soFar)).x(),
                                m.row(last(soFar) + 1).flatMap(Row::x)));
            case 5 ->
                add(name + ".x > " + otherName + ".x", (m, soFar) -> {
                    List<Mapped> others = of(soFar, other);
                    return less(
                            x(m, others, others.size() - 1),
                            m.rows().get(last(soFar)).x());
                });
            case 6 ->
                add("x < FIRST(" + otherName + ".x, 1) OR x > LAST(" + otherName + ".x, 1)", (m, soFar) -> {
                    List<Mapped> others = of(soFar, other);
                    Optional<Integer> own = m.rows().get(last(soFar)).x();
                    return less(own, x(m, others, 1)) || less(x(m, others, others.size() - 2), own);
                });
            case 7 ->
                add(
                        "count(" + otherName + ".*) < " + n,
                        (m, soFar) -> of(soFar, other).size() < n);
            case 8 ->
                add("sum(x) < " + 10 * n, (m, soFar) -> {
                    List<Integer> values = values(m, soFar);
                    return !values.isEmpty()
                            && values.stream().mapToInt(Integer::intValue).sum() < 10 * n;
                });
            case 9 ->
                add("max(" + name + ".x) - min(" + name + ".x) < " + k, (m, soFar) -> {
                    List<Integer> values = values(m, of(soFar, variable));
                    return !values.isEmpty()
                            && values.stream().mapToInt(Integer::intValue).max().getAsInt()
                                            - values.stream()
                                                    .mapToInt(Integer::intValue)
                                                    .min()
                                                    .getAsInt()
                                    < k;
                });
            default ->
                add("PREV(CLASSIFIER()) IS NULL OR PREV(CLASSIFIER()) <> '" + otherName + "'", (m, soFar) -> {
                    int at = last(soFar) - 1;
                    return soFar.stream().noneMatch(each -> each.row() == at && each.variable() == other);
                });
        }
        if (!defines.get(defines.size() - 1).isEmpty()) {
            defines.set(defines.size() - 1, name + " AS " + defines.get(defines.size() - 1));
        }
    }

    private void add(String sql, ReferenceMatcher.Condition condition) {
        defines.add(sql);
        conditions.add(condition);
    }

    private static List<Integer> values(ReferenceMatcher matcher, List<Mapped> mapped) {
        return mapped.stream()
                .map(each -> matcher.rows().get(each.row()).x())
                .flatMap(Optional::stream)
                .toList();
    }

    // ---- MEASURES --------------------------------------------------------------------------------------------------

    private static String text(Optional<?> value) {
        return value.map(Object::toString).orElse("");
    }

    private static Optional<Integer> id(ReferenceMatcher matcher, List<Mapped> mapped, int index, int shift) {
        if (index < 0 || index >= mapped.size()) {
            return Optional.empty();
        }
        return matcher.row(mapped.get(index).row() + shift).map(Row::id);
    }

    private Measure measure() {
        int variable = random.nextInt(NAMES.size());
        String name = NAMES.get(variable);
        int n = random.nextInt(3);
        boolean isFinal = random.nextBoolean();
        String modifier = isFinal ? "FINAL " : random.nextBoolean() ? "RUNNING " : "";
        return switch (random.nextInt(9)) {
            case 0 -> new Measure("MATCH_NUMBER()", (m, s) -> s.number() == 0 ? "" : "" + s.number());
            case 1 ->
                new Measure(
                        modifier + "FIRST(" + name + ".id, " + n + ")",
                        (m, s) -> text(id(m, of(seen(s, isFinal), variable), n, 0)));
            case 2 ->
                new Measure(
                        modifier + "LAST(id, " + n + ")",
                        (m, s) -> text(id(m, seen(s, isFinal), seen(s, isFinal).size() - 1 - n, 0)));
            case 3 ->
                new Measure(
                        modifier + "count(" + name + ".x)",
                        (m, s) -> s.number() == 0
                                ? ""
                                : "" + values(m, of(seen(s, isFinal), variable)).size());
            case 4 ->
                new Measure(modifier + "sum(x)", (m, s) -> {
                    List<Integer> values = values(m, seen(s, isFinal));
                    return values.isEmpty()
                            ? ""
                            : "" + values.stream().mapToInt(Integer::intValue).sum();
                });
            case 5 ->
                new Measure(modifier + "CLASSIFIER()", (m, s) -> {
                    List<Mapped> rows = seen(s, isFinal);
                    return rows.isEmpty()
                            ? ""
                            : NAMES.get(rows.get(rows.size() - 1).variable());
                });
            case 6 -> new Measure("PREV(FIRST(id), " + n + ")", (m, s) -> text(id(m, s.soFar(), 0, -n)));
            case 7 ->
                new Measure(
                        "NEXT(id, " + n + ")",
                        (m, s) -> text(id(m, s.soFar(), s.soFar().size() - 1, n)));
            default ->
                new Measure("PREV(LAST(coalesce(" + name + ".x, 77)))", (m, s) -> {
                    List<Mapped> rows = of(s.soFar(), variable);
                    if (rows.isEmpty()) {
                        return "";
                    }
                    return m.row(rows.get(rows.size() - 1).row() - 1)
                            .map(row -> "" + row.x().orElse(77))
                            .orElse("");
                });
        };
    }

    private static List<Mapped> seen(Sight sight, boolean isFinal) {
        return isFinal ? sight.whole() : sight.soFar();
    }

    // ---- both forms ------------------------------------------------------------------------------------------------

    /** {@code SELECT part, id (of the row shown), measures} over a relation. */
    String sql(String relation) {
        String names =
                IntStream.range(0, measures.size()).mapToObj(i -> "m" + i).collect(Collectors.joining(", "));
        String listed = IntStream.range(0, measures.size())
                .mapToObj(i -> measures.get(i).sql() + " AS m" + i)
                .collect(Collectors.joining(", "));
        String defined = defines.stream().filter(define -> !define.isEmpty()).collect(Collectors.joining(", "));
        return "SELECT part, " + (rows == Rows.ONE ? "" : "id, ") + names + " FROM " + relation
                + " MATCH_RECOGNIZE (PARTITION BY part ORDER BY ts, id MEASURES " + listed
                + " " + rows.sql + " AFTER MATCH SKIP "
                + List.of("PAST LAST ROW", "TO NEXT ROW", "TO FIRST b", "TO LAST b")
                        .get(skip)
                // an alternative that is never reached names the variables that the pattern does not
                + " PATTERN (" + sql(pattern) + " | a b c z)"
                + (within < 0 ? "" : " WITHIN INTERVAL '" + within + "' SECOND")
                + " DEFINE " + (defined.isEmpty() ? "" : defined + ", ") + "z AS false)";
    }

    /**
     * The answer over the rows of one partition: those that can be given for certain.
     *
     * @param watermark seconds; rows are those before it
     * @return empty if the query fails
     */
    Optional<List<String>> answer(List<Row> partition, boolean ended, long watermark) {
        List<ReferenceMatcher.Condition> all = new ArrayList<>(conditions);
        all.add((matcher, soFar) -> false);
        ReferenceMatcher matcher = new ReferenceMatcher(partition, all, within, ended, watermark);
        Pattern.Variable[] abc = {new Pattern.Variable(0), new Pattern.Variable(1), new Pattern.Variable(2)};
        Pattern whole = new Pattern.Choice(
                List.of(pattern, new Pattern.Sequence(List.of(abc[0], abc[1], abc[2], new Pattern.Variable(3)))));
        List<String> shown = new ArrayList<>();
        long number = 0;
        int matchedTo = 0;
        for (int start = 0; start < partition.size(); ) {
            try {
                Optional<List<Mapped>> match = matcher.match(whole, start);
                if (match.isEmpty()) {
                    if (rows == Rows.UNMATCHED && start >= matchedTo) {
                        shown.add(line(matcher, start, new Sight(List.of(), List.of(), 0)));
                    }
                    start++;
                    continue;
                }
                List<Mapped> mapped = match.get();
                shown.addAll(show(matcher, start, mapped, number + 1));
                number++;
                if (mapped.isEmpty()) {
                    start++;
                    continue;
                }
                matchedTo = Math.max(matchedTo, last(mapped) + 1);
                int next = next(mapped, start);
                if (next == start) {
                    return Optional.empty();
                }
                start = next;
            } catch (Undecided e) {
                break;
            }
        }
        return Optional.of(shown);
    }

    private int next(List<Mapped> mapped, int start) {
        if (skip == 0) {
            return last(mapped) + 1;
        } else if (skip == 1) {
            return start + 1;
        }
        List<Mapped> to = of(mapped, 1);
        return to.isEmpty() ? start : to.get(skip == 2 ? 0 : to.size() - 1).row();
    }

    private List<String> show(ReferenceMatcher matcher, int start, List<Mapped> mapped, long number) {
        // what a measure sees ahead of the match must be there before anything of it is shown
        boolean ahead = measures.stream().anyMatch(measure -> measure.sql().startsWith("NEXT"));
        int most = measures.stream()
                .filter(measure -> measure.sql().startsWith("NEXT"))
                .mapToInt(measure -> Integer.parseInt(measure.sql()
                        .substring(measure.sql().length() - 2, measure.sql().length() - 1)))
                .max()
                .orElse(0);
        if (ahead && !mapped.isEmpty()) {
            matcher.row(last(mapped) + most);
        }
        if (rows == Rows.ONE || mapped.isEmpty()) {
            return mapped.isEmpty() && rows == Rows.OMIT
                    ? List.of()
                    : List.of(line(matcher, start, new Sight(mapped, mapped, number)));
        }
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < mapped.size(); i++) {
            if (!mapped.get(i).excluded()) {
                lines.add(line(matcher, mapped.get(i).row(), new Sight(mapped.subList(0, i + 1), mapped, number)));
            }
        }
        return lines;
    }

    private String line(ReferenceMatcher matcher, int row, Sight sight) {
        Row shown = matcher.rows().get(row);
        String values = measures.stream()
                .map(measure -> measure.value().apply(matcher, sight))
                .collect(Collectors.joining("|"));
        return shown.part() + "|" + (rows == Rows.ONE ? "" : shown.id() + "|") + values;
    }
}
