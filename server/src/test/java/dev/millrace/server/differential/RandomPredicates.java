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
        return switch (chance.below(8)) {
            case 0 -> in(from, depth);
            case 1 -> exists(from, depth);
            case 2 -> counted(from, depth);
            case 3 -> compared(from, depth);
            case 4 -> pairIn(from, depth);
            case 5 -> quantified(from, depth);
            case 6 -> correlatedIn(from);
            default -> twoLevels(from);
        };
    }

    private Dual exists(Relations from, int depth) {
        Relations inner = grammar.relation(depth - 1);
        return Dual.of(
                chance.of("", "NOT ") + "EXISTS (SELECT 1 FROM {} WHERE {})", inner.text(), correlation(from, inner));
    }

    private Dual counted(Relations from, int depth) {
        Relations inner = grammar.relation(depth - 1);
        String counted = chance.percent(70)
                ? "*"
                : "DISTINCT " + chance.of(inner.scope().columns()).name();
        return Dual.of(
                "(SELECT count(" + counted + ") FROM {} WHERE {}) " + chance.of(">", "=", "<=") + " " + chance.below(3),
                inner.text(),
                correlation(from, inner));
    }

    private Dual compared(Relations from, int depth) {
        List<Column> numbers = from.scope().numbers();
        return numbers.isEmpty()
                ? in(from, depth)
                : Dual.of(chance.of(numbers).name() + chance.of(" = ", " <> ", " < ", " >= ") + "{}", scalar(from));
    }

    /** Compared with all or any of the rows of a query. The oracle counts: its own ANY is not sure of NULLs. */
    private Dual quantified(Relations from, int depth) {
        List<Column> numbers = from.scope().numbers();
        if (numbers.isEmpty()) {
            return in(from, depth);
        }
        String number = chance.of(numbers).name();
        String operator = chance.of("<", "<=", ">", ">=", "<>", "=");
        boolean all = chance.percent(50);
        Dual inner = grammar.ofKind(Kind.BIGINT, depth - 1).text();
        String alias = grammar.alias();
        return Dual.of(
                number + " " + operator + (all ? " ALL" : " ANY") + " ({})",
                (all ? "NOT EXISTS" : "EXISTS") + " (SELECT 1 FROM ({}) AS " + alias + " WHERE (" + number + " "
                        + operator + " " + alias + ".c0) IS " + (all ? "NOT TRUE" : "TRUE") + ")",
                inner);
    }

    /** Two columns at once; the oracle compares them one by one, as its rows take NULLs for equal. */
    private Dual pairIn(Relations from, int depth) {
        Column one = chance.of(from.scope().columns());
        Column other = chance.of(from.scope().columns());
        Relations inner = grammar.relation(depth - 1);
        List<Column> ones = inner.scope().like(one);
        List<Column> others = inner.scope().like(other);
        if (ones.isEmpty() || others.isEmpty()) {
            return in(from, depth);
        }
        boolean not = chance.percent(40);
        String first = chance.of(ones).name();
        String second = chance.of(others).name();
        String equal = "(" + first + " = " + one.name() + " AND " + second + " = " + other.name() + ")";
        return Dual.of(
                "(" + one.name() + ", " + other.name() + ") " + (not ? "NOT " : "") + "IN (SELECT " + first + ", "
                        + second + " FROM {})",
                (not ? "NOT " : "") + "EXISTS (SELECT 1 FROM {} WHERE " + equal + " IS " + (not ? "NOT FALSE" : "TRUE")
                        + ")",
                inner.text());
    }

    /** Among the values of the rows that belong to the row at hand. */
    private Dual correlatedIn(Relations from) {
        Relations inner = grammar.relation(0);
        Column column = chance.of(from.scope().columns());
        List<Column> partners = inner.scope().like(column);
        if (partners.isEmpty()) {
            return exists(from, 0);
        }
        return Dual.of(
                column.name() + " " + chance.of("", "NOT ") + "IN (SELECT "
                        + chance.of(partners).name() + " FROM {} WHERE {})",
                inner.text(),
                correlation(from, inner));
    }

    /** A subquery in a subquery, which knows the outermost row. */
    private Dual twoLevels(Relations from) {
        Relations inner = grammar.relation(0);
        Relations innermost = grammar.relation(0);
        Dual deep = Dual.of(
                chance.of("", "NOT ") + "EXISTS (SELECT 1 FROM {} WHERE {} AND {})",
                innermost.text(),
                correlation(inner, innermost),
                chance.percent(50) ? correlation(from, innermost) : condition(innermost));
        return Dual.of(
                chance.of("", "NOT ") + "EXISTS (SELECT 1 FROM {} WHERE {} AND {})",
                inner.text(),
                correlation(from, inner),
                deep);
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
    Dual correlation(Relations outer, Relations inner) {
        Column column = chance.of(outer.scope().columns());
        List<Column> partners = inner.scope().like(column);
        Dual equal = partners.isEmpty()
                ? condition(inner)
                : Dual.same(chance.of(partners).name() + " = " + column.name());
        return switch (chance.below(4)) {
            case 2 -> Dual.of("{} AND {}", equal, condition(inner));
            case 3 -> {
                Optional<String> compared = compared(outer, inner);
                // The oracle's EXISTS beside an OR takes the <> of a NULL for true.
                yield compared.map(text -> Dual.of("{} AND " + text, "{} AND (" + text + ") IS TRUE", equal))
                        .orElse(equal);
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
