package dev.millrace.server.match;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntPredicate;

/**
 * Row pattern matching as the standard says it, by trying all ways in the order of preference over rows in memory. Slow,
 * and with nothing in common with the engine's automaton.
 */
final class ReferenceMatcher {
    /** A row of one partition, in order; {@code x} may be NULL. */
    record Row(String part, long second, int id, Optional<Integer> x) {}

    /** A pattern; variables by number. */
    sealed interface Pattern {
        record Variable(int variable) implements Pattern {}

        record Sequence(List<Pattern> parts) implements Pattern {}

        record Choice(List<Pattern> parts) implements Pattern {}

        record Permuted(List<Pattern> parts) implements Pattern {}

        record Repeated(Pattern body, int least, OptionalInt most, boolean greedy) implements Pattern {}

        record Excluded(Pattern body) implements Pattern {}

        record Start() implements Pattern {}

        record End() implements Pattern {}
    }

    /** A row of a match and the variable it is mapped to. */
    record Mapped(int row, int variable, boolean excluded) {}

    /** What a condition sees: the rows mapped so far, the last of which is the one at hand. */
    interface Condition {
        boolean test(ReferenceMatcher matcher, List<Mapped> soFar);
    }

    /** That it depends on rows which are not there yet. */
    static final class Undecided extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Undecided() {
            super(null, null, false, false);
        }
    }

    private final List<Row> rows;
    private final List<Condition> conditions;
    private final long within; // seconds; -1 for ever
    private final boolean ended;
    private final long watermark;
    private final List<Mapped> path = new ArrayList<>();
    private boolean excluding;
    private int start;

    ReferenceMatcher(List<Row> rows, List<Condition> conditions, long within, boolean ended, long watermark) {
        this.rows = rows;
        this.conditions = conditions;
        this.within = within;
        this.ended = ended;
        this.watermark = watermark;
    }

    List<Row> rows() {
        return rows;
    }

    /** The row at a position: empty outside the partition, undecided if it may still come. */
    Optional<Row> row(int at) {
        if (at >= rows.size() && !ended) {
            throw new Undecided();
        }
        return at < 0 || at >= rows.size() ? Optional.empty() : Optional.of(rows.get(at));
    }

    /** The preferred match that begins at a row. */
    Optional<List<Mapped>> match(Pattern pattern, int newStart) {
        path.clear();
        excluding = false;
        start = newStart;
        return go(pattern, newStart, end -> true) ? Optional.of(List.copyOf(path)) : Optional.empty();
    }

    private boolean go(Pattern pattern, int at, IntPredicate then) {
        if (pattern instanceof Pattern.Variable variable) {
            return map(variable.variable(), at, then);
        } else if (pattern instanceof Pattern.Sequence sequence) {
            return sequence(sequence.parts(), 0, at, then);
        } else if (pattern instanceof Pattern.Choice choice) {
            return choice.parts().stream().anyMatch(part -> go(part, at, then));
        } else if (pattern instanceof Pattern.Permuted permuted) {
            return orders(permuted.parts()).stream().anyMatch(order -> sequence(order, 0, at, then));
        } else if (pattern instanceof Pattern.Repeated repeated) {
            return repeat(repeated, 0, at, then);
        } else if (pattern instanceof Pattern.Excluded excluded) {
            excluding = true;
            boolean matched = go(excluded.body(), at, end -> {
                excluding = false;
                boolean rest = then.test(end);
                excluding = !rest;
                return rest;
            });
            excluding = false;
            return matched;
        } else if (pattern instanceof Pattern.Start) {
            return at == 0 && then.test(at);
        }
        if (at == rows.size() && !ended) {
            throw new Undecided();
        }
        return at == rows.size() && then.test(at);
    }

    private boolean sequence(List<Pattern> parts, int part, int at, IntPredicate then) {
        return part == parts.size()
                ? then.test(at)
                : go(parts.get(part), at, end -> sequence(parts, part + 1, end, then));
    }

    private static List<List<Pattern>> orders(List<Pattern> parts) {
        if (parts.isEmpty()) {
            return List.of(List.of());
        }
        List<List<Pattern>> all = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            List<Pattern> rest = new ArrayList<>(parts);
            Pattern first = rest.remove(i);
            for (List<Pattern> order : orders(rest)) {
                List<Pattern> whole = new ArrayList<>(List.of(first));
                whole.addAll(order);
                all.add(whole);
            }
        }
        return all;
    }

    private boolean repeat(Pattern.Repeated repeated, int times, int at, IntPredicate then) {
        boolean mayStop = times >= repeated.least();
        boolean mayGoOn = repeated.most().isEmpty() || times < repeated.most().getAsInt();
        IntPredicate again = end -> {
            boolean endless = repeated.most().isEmpty() && mayStop && end == at;
            return endless ? then.test(end) : repeat(repeated, times + 1, end, then);
        };
        if (repeated.greedy()) {
            return mayGoOn && go(repeated.body(), at, again) || mayStop && then.test(at);
        }
        return mayStop && then.test(at) || mayGoOn && go(repeated.body(), at, again);
    }

    private boolean map(int variable, int at, IntPredicate then) {
        if (at == rows.size()) {
            boolean past =
                    within >= 0 && at > start && watermark - rows.get(start).second() > within;
            if (!ended && !past) {
                throw new Undecided();
            }
            return false;
        }
        if (within >= 0 && rows.get(at).second() - rows.get(start).second() > within) {
            return false;
        }
        path.add(new Mapped(at, variable, excluding));
        if (conditions.get(variable).test(this, path) && then.test(at + 1)) {
            return true;
        }
        path.remove(path.size() - 1);
        return false;
    }
}
