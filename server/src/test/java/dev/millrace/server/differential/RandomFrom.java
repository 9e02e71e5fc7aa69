package dev.millrace.server.differential;

import dev.millrace.server.differential.RandomGrammar.Relations;
import dev.millrace.server.differential.RandomGrammar.Select;
import dev.millrace.server.differential.Scope.Column;
import java.util.ArrayList;
import java.util.List;

/**
 * Random FROM clauses: the relation, one {@code beside} it (a table beside a stream, a view beside a table), VALUES,
 * series and queries; joined up to three deep in any kind, also nested to the right, by columns, by expressions, by what
 * takes NULLs for equal, by a condition alone where the rows are few; LATERAL queries and UNNEST at the end.
 */
final class RandomFrom {
    private static final double MOST_ROWS = 3_000;

    private final Chance chance;
    private final RandomGrammar grammar;
    private final RandomPredicates predicates;

    RandomFrom(Chance chance, RandomGrammar grammar, RandomPredicates predicates) {
        this.chance = chance;
        this.grammar = grammar;
        this.predicates = predicates;
    }

    /** A whole clause. */
    Relations next(int depth) {
        Relations all = joined(depth);
        return depth > 0 && chance.percent(12) ? lateral(all) : all;
    }

    Relations base() {
        String alias = grammar.alias();
        String name = chance.percent(20) ? "beside" : "rel";
        String schema = chance.percent(10) ? "public." : "";
        return new Relations(new Dual(schema + name + " AS " + alias, name + " AS " + alias), Scope.BASE.under(alias));
    }

    Relations relation(int depth) {
        if (depth <= 0 || chance.percent(60)) {
            return chance.percent(6) ? listed() : base();
        }
        return queried(grammar.select(depth - 1));
    }

    private Relations queried(Select query) {
        String alias = grammar.alias();
        return new Relations(
                Dual.of("({}) AS " + alias, query.text()), query.scope().under(alias));
    }

    /** Rows that are in no relation. */
    private Relations listed() {
        String alias = grammar.alias();
        if (chance.percent(30)) {
            return new Relations(
                    Dual.same("generate_series(" + chance.of("0, 3", "-2, 2", "3, 1, -1") + ") AS " + alias + "(c0)"),
                    new Scope(List.of(new Column("c0", Kind.INTEGER, 4, true)), 4).under(alias));
        }
        String rows = chance.of("(1, 'a'), (2, NULL)", "(0, 'b'), (NULL, 'a'), (3, 'ü'), (3, 'ü')", "(2, '')");
        List<Column> columns = List.of(new Column("c0", Kind.INTEGER, 3, true), new Column("c1", Kind.TEXT, 3, true));
        return new Relations(
                Dual.same("(VALUES " + rows + ") AS " + alias + "(c0, c1)"), new Scope(columns, 3).under(alias));
    }

    private Relations joined(int depth) {
        Relations all = relation(depth);
        int joins = depth <= 0 ? 0 : chance.of(0, 0, 1, 1, 2, 3);
        for (int join = 0; join < joins; join++) {
            all = join(all, chance.percent(10) ? nested(depth - 1) : relation(depth - 1));
        }
        return all;
    }

    /** A join in parentheses. */
    private Relations nested(int depth) {
        Relations left = relation(depth);
        Relations both = join(left, relation(depth));
        return both.text().equals(left.text()) ? left : new Relations(Dual.of("({})", both.text()), both.scope());
    }

    /** By so many equal columns that the rows stay few; where there are none, the left alone. */
    Relations join(Relations left, Relations right) {
        double rows = left.scope().rows() * right.scope().rows();
        List<Dual> keys = new ArrayList<>();
        boolean without = rows <= MOST_ROWS && chance.percent(30);
        for (int tries = 0; !without && tries < 12 && (rows > MOST_ROWS || keys.isEmpty()); tries++) {
            Column key = chance.of(left.scope().columns());
            List<Column> partners = right.scope().like(key);
            if (!partners.isEmpty()) {
                Column partner = chance.of(partners);
                keys.add(equal(key, partner));
                rows /= Math.max(1, Math.max(key.values(), partner.values()) / 2);
            }
        }
        if (rows > MOST_ROWS || keys.isEmpty() && !without) {
            return left;
        }
        Scope both = left.scope().with(right.scope(), Math.max(1, rows));
        if (keys.isEmpty() || chance.percent(30)) {
            keys.add(new RandomExpressions(chance, both).condition(1));
        }
        String kind = chance.of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "JOIN", "SEMI JOIN", "ANTI JOIN");
        Dual text = Dual.of("{} " + kind + " {} ON {}", left.text(), right.text(), Dual.join(" AND ", keys));
        if (kind.equals("SEMI JOIN") || kind.equals("ANTI JOIN")) {
            return new Relations(text, left.scope());
        }
        double alone =
                kind.equals("JOIN") ? 0 : left.scope().rows() + right.scope().rows();
        return new Relations(text, new Scope(both.columns(), both.rows() + alone));
    }

    private Dual equal(Column key, Column partner) {
        if (chance.percent(8)) {
            return Dual.same(key.name() + " IS NOT DISTINCT FROM " + partner.name());
        }
        boolean whole = key.kind() == Kind.INTEGER && key.plain() && partner.plain();
        return Dual.same(key.name() + (whole && chance.percent(20) ? " + 1" : "") + " = " + partner.name());
    }

    /** What is computed for each row of the left. */
    private Relations lateral(Relations left) {
        String alias = grammar.alias();
        RandomExpressions expressions = new RandomExpressions(chance, left.scope());
        return switch (chance.below(4)) {
            case 0 -> {
                Dual computed = Dual.of(
                        "{} CROSS JOIN LATERAL (SELECT {} AS c0, {} AS c1) AS " + alias,
                        left.text(),
                        expressions.of(Kind.INTEGER, 2),
                        expressions.of(Kind.TEXT, 2));
                yield with(left, computed, alias, 1, Kind.INTEGER, Kind.TEXT);
            }
            case 1 -> {
                Dual unnested = Dual.of(
                        "{}, unnest(ARRAY[{}, {}]) AS " + alias + "(c0)",
                        "{}, unnest([{}, {}]) AS " + alias + "(c0)",
                        left.text(),
                        expressions.of(Kind.INTEGER, 1),
                        expressions.of(Kind.INTEGER, 0));
                yield with(left, unnested, alias, 2, Kind.INTEGER);
            }
            case 2 -> {
                Relations inner = base();
                Dual aggregated = Dual.of(
                        "{} " + chance.of("LEFT JOIN", "JOIN") + " LATERAL (SELECT count(*) AS c0, max("
                                + inner.scope().of(Kind.TEXT).get(0).name() + ") AS c1 FROM {} WHERE {}) AS " + alias
                                + " ON true",
                        left.text(),
                        inner.text(),
                        predicates.correlation(left, inner));
                yield with(left, aggregated, alias, 1, Kind.BIGINT, Kind.TEXT);
            }
            default -> {
                Relations inner = base();
                String id = inner.scope().columns().get(0).name();
                String text = inner.scope().of(Kind.TEXT).get(1).name();
                Dual cut = Dual.of(
                        "{} " + chance.of("LEFT JOIN", "JOIN") + " LATERAL (SELECT " + id + " AS c0, " + text
                                + " AS c1 FROM {} WHERE {} ORDER BY c1" + chance.of("", " DESC") + ", c0 LIMIT "
                                + chance.between(1, 3) + ") AS " + alias + " ON true",
                        left.text(),
                        inner.text(),
                        predicates.correlation(left, inner));
                yield with(left, cut, alias, 2, Kind.BIGINT, Kind.TEXT);
            }
        };
    }

    private static Relations with(Relations left, Dual text, String alias, double times, Kind... kinds) {
        List<Column> columns = new ArrayList<>();
        for (Kind kind : kinds) {
            columns.add(new Column("c" + columns.size(), kind, 20, true));
        }
        return new Relations(
                text,
                left.scope()
                        .with(new Scope(columns, 1).under(alias), left.scope().rows() * times));
    }
}
