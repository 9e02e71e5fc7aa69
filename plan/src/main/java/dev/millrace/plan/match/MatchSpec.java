package dev.millrace.plan.match;

import dev.millrace.plan.expression.Expression;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntUnaryOperator;

/**
 * What is a match, what is shown of it, and where the next one is looked for.
 *
 * @param symbols the pattern's variables in order of their first mention, then unions of them (SUBSET), last the union
 *     of all, by which values mention rows
 * @param conditions per variable, over the values it takes; none is true of every row
 * @param withinMicros how much later than its first row a match's last may be at most, by the first order key
 */
public record MatchSpec(
        List<Symbol> symbols,
        RowPattern pattern,
        List<Optional<Condition>> conditions,
        OptionalLong withinMicros,
        AfterMatch after,
        Rows rows) {

    public MatchSpec {
        symbols = List.copyOf(symbols);
        conditions = List.copyOf(conditions);
        if (symbols.size() <= conditions.size()) {
            throw new IllegalArgumentException(
                    symbols.size() + " symbols for " + conditions.size() + " variables and the union of all");
        }
    }

    /**
     * A variable or a union of variables.
     *
     * @param variables places of the variables; of a variable its own
     */
    public record Symbol(String name, List<Integer> variables) {
        public Symbol {
            variables = List.copyOf(variables);
        }
    }

    /** A BOOLEAN expression whose column {@code i} is {@code values[i]}. */
    public record Condition(List<MatchValue> values, Expression expression) {
        public Condition {
            values = List.copyOf(values);
        }
    }

    /** Which rows are shown. */
    public enum Rows {
        /** One for each match, empty ones too. */
        ONE,
        /** All but excluded ones, and for an empty match the row at which it lies. */
        ALL,
        /** As ALL, without empty matches. */
        ALL_OMIT_EMPTY,
        /** As ALL, and those that are of no match. */
        ALL_WITH_UNMATCHED
    }

    /** Where the search goes on; after an empty match always at the next row. */
    public sealed interface AfterMatch {
        /** After the match. */
        record PastLastRow() implements AfterMatch {}

        /** At the row after the match's first. */
        record ToNextRow() implements AfterMatch {}

        /** At the first or last row of a symbol; none, or the match's first row, is an error (2202K, 2202L). */
        record ToSymbol(int symbol, boolean last) implements AfterMatch {}
    }

    /** The variables, without unions. */
    public int variables() {
        return conditions.size();
    }

    /** The place of the union of all variables. */
    public int universal() {
        return symbols.size() - 1;
    }

    /** The same over input columns renumbered. */
    public MatchSpec renumber(IntUnaryOperator column) {
        return new MatchSpec(
                symbols,
                pattern,
                conditions.stream()
                        .map(condition -> condition.map(some -> new Condition(
                                some.values().stream()
                                        .map(value -> value.renumber(column))
                                        .toList(),
                                some.expression())))
                        .toList(),
                withinMicros,
                after,
                rows);
    }
}
