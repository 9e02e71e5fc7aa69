package dev.millrace.plan.match;

import java.util.List;
import java.util.OptionalInt;

/**
 * A pattern over rows. Of several ways to match from one row the preferred one counts: of alternatives the earlier, of a
 * greedy repetition one more time before stopping, of a reluctant one stopping before one more time; decisions further
 * left weigh more (ISO 19075-5, 4.14: preferment), as a
 * backtracking matcher would find them.
 */
public sealed interface RowPattern {
    /** One row that meets the condition of a variable. */
    record Variable(int variable) implements RowPattern {}

    /** One after the other; no parts match no rows. */
    record Concatenation(List<RowPattern> parts) implements RowPattern {
        public Concatenation {
            parts = List.copyOf(parts);
        }
    }

    /** One of these. */
    record Alternation(List<RowPattern> choices) implements RowPattern {
        public Alternation {
            choices = List.copyOf(choices);
        }
    }

    /** All of these in some order, orders preferred as a dictionary would list them. */
    record Permutation(List<RowPattern> parts) implements RowPattern {
        public Permutation {
            parts = List.copyOf(parts);
        }
    }

    /**
     * The body {@code least} to {@code most} times, without end if {@code most} is empty. A time beyond {@code least}
     * that matches no row ends an endless repetition.
     */
    record Repetition(RowPattern body, int least, OptionalInt most, boolean greedy) implements RowPattern {}

    /** The body's rows are not shown by ALL ROWS PER MATCH. */
    record Exclusion(RowPattern body) implements RowPattern {}

    /** No row; true before a partition's first one. */
    record PartitionStart() implements RowPattern {}

    /** No row; true after a partition's last one. */
    record PartitionEnd() implements RowPattern {}
}
