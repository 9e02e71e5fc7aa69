package dev.millrace.server.differential;

import dev.millrace.server.differential.RandomGrammar.Relations;
import dev.millrace.server.differential.Scope.Column;
import java.util.List;
import java.util.Optional;

/** What may stand in a WHERE clause: conditions over the columns, and subqueries, of their own or correlated. */
final class RandomPredicates {
    private final Chance chance;
    private final RandomGrammar grammar;

    RandomPredicates(Chance chance, RandomGrammar grammar) {
        this.chance = chance;
        this.grammar = grammar;
    }

    /** A condition, or nothing. */
    Dual optional(Relations from, int depth) {
        if (depth > 0 && chance.percent(25)) {
            Dual subquery = subquery(from, depth);
            return chance.percent(25)
                    ? Dual.of("{} " + chance.of("AND", "OR") + " {}", condition(from), subquery)
                    : subquery;
        }
        return chance.percent(40) ? condition(from) : Dual.same("");
    }

    private Dual condition(Relations from) {
        return new RandomExpressions(chance, from.scope()).condition(2);
    }

    private Dual subquery(Relations from, int depth) {
        return switch (chance.below(4)) {
            case 0 -> in(from, depth);
            case 1 -> {
                Relations inner = grammar.relation(depth - 1);
                yield Dual.of(
                        chance.of("", "NOT ") + "EXISTS (SELECT 1 FROM {} WHERE {})",
                        inner.text(),
                        correlation(from, inner));
            }
            case 2 -> {
                Relations inner = grammar.relation(depth - 1);
                yield Dual.of(
                        "(SELECT count(*) FROM {} WHERE {}) " + chance.of(">", "=", "<=") + " " + chance.below(3),
                        inner.text(),
                        correlation(from, inner));
            }
            default -> {
                List<Column> numbers = from.scope().numbers();
                yield numbers.isEmpty()
                        ? in(from, depth)
                        : Dual.of(
                                chance.of(numbers).name() + chance.of(" = ", " <> ", " < ", " >= ") + "{}",
                                scalar(from));
            }
        };
    }

    private Dual in(Relations from, int depth) {
        List<Column> columns = from.scope().columns().stream()
                .filter(column -> column.kind() != Kind.OTHER && column.plain())
                .toList();
        if (columns.isEmpty()) {
            return condition(from);
        }
        Column column = chance.of(columns);
        return Dual.of(
                column.name() + " " + chance.of("", "NOT ") + "IN ({})",
                grammar.ofKind(column.kind(), depth - 1).text());
    }

    /** One number of another relation: of all of it, or of the rows that belong to the row at hand. */
    Dual scalar(Relations from) {
        Relations inner = grammar.relation(0);
        Column number = chance.of(inner.scope().numbers());
        Dual where = chance.percent(50) ? Dual.of(" WHERE {}", correlation(from, inner)) : Dual.same("");
        return Dual.of(
                "(SELECT " + chance.of("max", "min", "count") + "(" + number.name() + ") FROM {}{})",
                inner.text(),
                where);
    }

    /** Equal columns of both if there are any, and sometimes more. */
    private Dual correlation(Relations outer, Relations inner) {
        Column column = chance.of(outer.scope().columns());
        List<Column> partners = inner.scope().like(column);
        Dual equal = partners.isEmpty()
                ? condition(inner)
                : Dual.same(chance.of(partners).name() + " = " + column.name());
        return switch (chance.below(4)) {
            case 2 -> Dual.of("{} AND {}", equal, condition(inner));
            case 3 -> {
                Optional<String> compared = compared(outer, inner);
                yield compared.map(text -> Dual.of("{} AND " + text, equal)).orElse(equal);
            }
            default -> equal;
        };
    }

    private Optional<String> compared(Relations outer, Relations inner) {
        Column column = chance.of(outer.scope().columns());
        List<Column> partners = inner.scope().like(column);
        return partners.isEmpty()
                ? Optional.empty()
                : Optional.of(chance.of(partners).name() + chance.of(" < ", " <> ", " >= ") + column.name());
    }
}
