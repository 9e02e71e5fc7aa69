package dev.millrace.planner.explain;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchSpec.AfterMatch;
import dev.millrace.plan.match.MatchValue;
import dev.millrace.plan.match.MatchValue.Content;
import dev.millrace.plan.match.MatchValue.Navigation;
import dev.millrace.plan.match.RowPattern;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A row pattern nearly as one would write it in SQL. */
final class MatchText {
    private final PlanNode.Match match;
    private final MatchSpec spec;
    private final ExpressionText input;

    MatchText(PlanNode.Match match) {
        this.match = match;
        this.spec = match.spec();
        this.input = new ExpressionText(match.input().schema());
    }

    /** How many rows before a match its conditions and outputs look at. */
    static int rowsBefore(PlanNode.Match match) {
        return Stream.concat(
                        match.values().stream(),
                        match.spec().conditions().stream()
                                .flatMap(condition -> condition.stream().flatMap(some -> some.values().stream())))
                .mapToInt(value -> value instanceof Navigation navigation ? Math.max(0, -navigation.shift()) : 0)
                .max()
                .orElse(0);
    }

    String line() {
        List<String> parts = new ArrayList<>();
        parts.add("Match " + pattern(spec.pattern()));
        if (spec.withinMicros().isPresent()) {
            parts.add("within " + Durations.text(spec.withinMicros().getAsLong()));
        }
        if (!match.partition().isEmpty()) {
            parts.add("per " + input.columns(match.partition()));
        }
        if (!match.order().isEmpty()) {
            parts.add("order " + input.order(match.order()));
        }
        String conditions = IntStream.range(0, spec.variables())
                .filter(variable -> spec.conditions().get(variable).isPresent())
                .mapToObj(variable -> name(variable) + " as "
                        + text(
                                spec.conditions().get(variable).get().expression(),
                                spec.conditions().get(variable).get().values()))
                .collect(Collectors.joining(", "));
        if (!conditions.isEmpty()) {
            parts.add("where " + conditions);
        }
        parts.add(
                switch (spec.rows()) {
                    case ONE -> "one row";
                    case ALL -> "all rows";
                    case ALL_OMIT_EMPTY -> "all rows of matches not empty";
                    case ALL_WITH_UNMATCHED -> "all rows, unmatched too";
                });
        parts.add("then " + after());
        String outputs = match.outputs().stream()
                .map(output -> text(output, match.values()))
                .collect(Collectors.joining(", "));
        return String.join(" ", parts) + ": " + (outputs.isEmpty() ? "no columns" : outputs);
    }

    private String after() {
        if (spec.after() instanceof AfterMatch.ToSymbol to) {
            return "from the " + (to.last() ? "last " : "first ")
                    + spec.symbols().get(to.symbol()).name();
        }
        return spec.after() instanceof AfterMatch.ToNextRow ? "from the next row" : "past it";
    }

    private String name(int symbol) {
        return spec.symbols().get(symbol).name();
    }

    private String pattern(RowPattern pattern) {
        String text = bare(pattern);
        return text.startsWith("(") && text.endsWith(")") && pattern instanceof RowPattern.Alternation
                ? text
                : "(" + text + ")";
    }

    private String bare(RowPattern pattern) {
        if (pattern instanceof RowPattern.Variable variable) {
            return name(variable.variable());
        } else if (pattern instanceof RowPattern.Concatenation all) {
            return all.parts().stream()
                    .map(part -> part instanceof RowPattern.Alternation ? "(" + bare(part) + ")" : bare(part))
                    .collect(Collectors.joining(" "));
        } else if (pattern instanceof RowPattern.Alternation any) {
            return any.choices().stream().map(this::bare).collect(Collectors.joining(" | "));
        } else if (pattern instanceof RowPattern.Permutation permuted) {
            return permuted.parts().stream().map(this::bare).collect(Collectors.joining(", ", "PERMUTE(", ")"));
        } else if (pattern instanceof RowPattern.Exclusion excluded) {
            return "{- " + bare(excluded.body()) + " -}";
        } else if (pattern instanceof RowPattern.PartitionStart) {
            return "^";
        } else if (pattern instanceof RowPattern.PartitionEnd) {
            return "$";
        }
        RowPattern.Repetition repeated = (RowPattern.Repetition) pattern;
        boolean simple =
                repeated.body() instanceof RowPattern.Variable || repeated.body() instanceof RowPattern.Permutation;
        String body = simple ? bare(repeated.body()) : "(" + bare(repeated.body()) + ")";
        return body + quantifier(repeated) + (repeated.greedy() ? "" : "?");
    }

    private static String quantifier(RowPattern.Repetition repeated) {
        int least = repeated.least();
        if (repeated.most().isEmpty()) {
            return least == 0 ? "*" : least == 1 ? "+" : "{" + least + ",}";
        }
        int most = repeated.most().getAsInt();
        return least == 0 && most == 1 ? "?" : least == most ? "{" + least + "}" : "{" + least + "," + most + "}";
    }

    private String text(Expression expression, List<MatchValue> values) {
        List<Field> fields = values.stream()
                .map(value -> new Field(text(value), value.type(), value.nullable()))
                .toList();
        return new ExpressionText(new Schema(fields)).text(expression);
    }

    private String text(MatchValue value) {
        if (value instanceof MatchValue.Shown shown) {
            return input.column(shown.index());
        } else if (value instanceof MatchValue.Number) {
            return "match_number()";
        } else if (value instanceof MatchValue.Matched) {
            return "matched";
        } else if (value instanceof MatchValue.Aggregate aggregate) {
            String of = aggregate.argument().isPresent()
                    ? qualified(
                            aggregate.symbol(),
                            input.column(aggregate.argument().getAsInt()))
                    : qualified(aggregate.symbol(), "*");
            return (aggregate.whole() ? "final " : "")
                    + aggregate.function().name().toLowerCase(Locale.ROOT) + "(" + of + ")";
        }
        Navigation navigation = (Navigation) value;
        String text = content(navigation);
        boolean plainLast = navigation.last() && navigation.steps() == 0;
        if (!plainLast || navigation.whole()) {
            text = (navigation.last() ? "last(" : "first(") + text
                    + (navigation.steps() == 0 ? "" : ", " + navigation.steps()) + ")";
        }
        if (navigation.shift() != 0) {
            int by = Math.abs(navigation.shift());
            text = (navigation.shift() < 0 ? "prev(" : "next(") + text + (by == 1 ? "" : ", " + by) + ")";
        }
        return (navigation.whole() ? "final " : "") + text;
    }

    private String content(Navigation navigation) {
        if (navigation.content() instanceof Content.Column column) {
            return qualified(navigation.symbol(), input.column(column.column()));
        }
        String function = navigation.content() instanceof Content.Classifier ? "classifier" : "exists";
        return function + "(" + (navigation.symbol() == spec.universal() ? "" : name(navigation.symbol())) + ")";
    }

    private String qualified(int symbol, String column) {
        return symbol == spec.universal() ? column : name(symbol) + "." + column;
    }
}
