package dev.millrace.edge.program;

import dev.millrace.edge.program.Term.Kind;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An aggregation over tumbling windows that a device makes of its rows, so that it sends {@link WindowGroups partial aggregates} in their place.
 *
 * @param id of the query, unlike that of any other one ever
 * @param sizeMicros of a window
 * @param offsetMicros by how much windows are moved; from 0 to less than the size
 * @param time the column with the event time
 * @param keys by which rows of a window are grouped
 * @param aggregates of each group, besides how many rows it has
 * @param condition of the rows that count; all without one
 */
public record WindowProgram(
        String id,
        long sizeMicros,
        long offsetMicros,
        String time,
        List<Term> keys,
        List<Aggregate> aggregates,
        Optional<Term> condition) {
    /** The option of a stream of the server that takes a program's partials: its text. */
    public static final String STREAM_OPTION = "windows";

    private static final int MOST_AGGREGATES = 100;

    /** What is kept of the values of a group. */
    public enum Function {
        /** How many are not NULL. */
        COUNT,
        SUM,
        MIN,
        MAX
    }

    /**
     * One of them.
     *
     * @param argument whose values these are; of a kind that has numbers, but for COUNT
     * @param filter of the rows whose values count; all without one
     */
    public record Aggregate(Function function, Term argument, Optional<Term> filter) {
        public Aggregate {
            Kind kind = argument.kind();
            if (function != Function.COUNT && kind != Kind.WHOLE && kind != Kind.NUMBER) {
                throw wrong("no " + function + " of " + kind);
            }
            requirePlain(argument);
            filter.ifPresent(WindowProgram::requireCondition);
        }

        /** Whether it has a value where a count of the same values does not have none. */
        boolean isOfSameValues(Aggregate count) {
            return function != Function.COUNT && argument.equals(count.argument) && filter.equals(count.filter);
        }
    }

    /** @throws MillraceException 22023 if it is no such program, 54000 if it is too large */
    public WindowProgram {
        keys = List.copyOf(keys);
        aggregates = List.copyOf(aggregates);
        if (id.isEmpty() || id.indexOf(' ') >= 0) {
            throw wrong("an id without blanks");
        }
        if (sizeMicros <= 0 || offsetMicros < 0 || offsetMicros >= sizeMicros) {
            throw wrong("no windows of " + sizeMicros + " us, moved by " + offsetMicros);
        }
        if (keys.size() + aggregates.size() > MOST_AGGREGATES) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "a program for devices has at most " + MOST_AGGREGATES + " keys and aggregates");
        }
        keys.forEach(WindowProgram::requirePlain);
        condition.ifPresent(WindowProgram::requireCondition);
    }

    private static void requireCondition(Term term) {
        if (term.kind() != Kind.TRUTH) {
            throw wrong("conditions that are truth values");
        }
        requirePlain(term);
    }

    /** A row counts or does not: nothing in it may overflow, which would be the server's to find out. */
    private static void requirePlain(Term term) {
        if (!isPlain(term)) {
            throw wrong("no arithmetic in windows");
        }
    }

    /** Whether a term can be computed of any row. */
    public static boolean isPlain(Term term) {
        return !(term instanceof Term.Call call)
                || switch (call.operator()) {
                            case ADD, SUBTRACT, MULTIPLY -> false;
                            case AND, OR, NOT, EQ, NE, LT, LE, GT, GE, IS_NULL, IS_NOT_NULL, TO_NUMBER -> true;
                        }
                        && call.arguments().stream().allMatch(WindowProgram::isPlain);
    }

    private static MillraceException wrong(String what) {
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "a program of windows for devices has " + what);
    }

    /** The rows that the aggregation is made of, for who does not make it. */
    public RowProgram rows() {
        Set<String> columns = new LinkedHashSet<>();
        columns.add(time);
        keys.forEach(key -> columns(key, columns));
        aggregates.forEach(aggregate -> {
            columns(aggregate.argument(), columns);
            aggregate.filter().ifPresent(term -> columns(term, columns));
        });
        condition.ifPresent(term -> columns(term, columns));
        return new RowProgram(List.copyOf(columns), condition);
    }

    private static void columns(Term term, Set<String> columns) {
        if (term instanceof Term.Column column) {
            columns.add(column.name());
        } else if (term instanceof Term.Call call) {
            call.arguments().forEach(argument -> columns(argument, columns));
        }
    }

    /**
     * As the package's description has it, in one line.
     *
     * @throws MillraceException 54000 if it is longer, deeper or larger than anybody reads
     */
    public String text() {
        return ProgramText.write(this);
    }

    /**
     * Reads one, whoever wrote it.
     *
     * @throws MillraceException 22023 if it is none, 0A000 if it is of another version, 54000 if it is too large
     */
    public static WindowProgram parse(String text) {
        return ProgramText.readWindows(text);
    }
}
