package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.grammar.Infix.Level;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.JoinType;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * PIVOT and UNPIVOT, as queries and behind an item of FROM, said by aggregates with FILTER and by rows of VALUES:
 *
 * <pre>
 * PIVOT t ON c IN ('x', 'y') USING sum(v) GROUP BY g
 * SELECT g, sum(v) FILTER (WHERE c = 'x') AS x, sum(v) FILTER (WHERE c = 'y') AS y FROM t GROUP BY g
 *
 * UNPIVOT t ON a, b INTO NAME n VALUE v
 * SELECT * EXCLUDE (a, b), n, v FROM t CROSS JOIN LATERAL (VALUES ('a', a), ('b', b)) AS u(n, v) WHERE v IS NOT NULL
 * </pre>
 */
final class PivotParser {
    /** Places of what is read once for each column, with the name that it gives the column. */
    private record Part(int place, int end, String name) {}

    /** A column whose values become columns. */
    private record On(Part column, List<Part> values) {}

    private final Grammar grammar;
    private final Tokens tokens;

    PivotParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    // ---- queries ---------------------------------------------------------------------------------------------------

    /** {@code PIVOT t ON ..}, {@code UNPIVOT t ON ..}. */
    SqlNode query() {
        Lexeme head = tokens.next();
        boolean pivot = head.isWord("pivot") || head.isWord("pivot_wider");
        SqlNode source = grammar.froms.item();
        tokens.requireWord("on");
        if (!pivot) {
            return unpivotQuery(head, source);
        }
        List<On> ons = new ArrayList<>();
        do {
            ons.add(on(head));
        } while (tokens.acceptComma());
        List<Part> aggregates = tokens.accept("using") ? aggregates() : List.of();
        List<SqlNode> groups = tokens.acceptAll("group", "by") ? grammar.expressions.list() : List.of();
        return pivot(head, source, ons, aggregates, groups);
    }

    private SqlNode unpivotQuery(Lexeme head, SqlNode source) {
        List<Part> columns = new ArrayList<>();
        do {
            columns.add(unpivoted(head));
        } while (tokens.acceptComma());
        String name = "name";
        String value = "value";
        if (tokens.accept("into")) {
            tokens.requireWord("name");
            name = tokens.label().getSimple();
            tokens.requireWord("value");
            value = tokens.label().getSimple();
        }
        return unpivot(head, source, columns, name, value, false);
    }

    // ---- behind an item of FROM ------------------------------------------------------------------------------------

    /** The item with the PIVOT or UNPIVOT behind it; empty, at the same place, where there is none. */
    Optional<SqlNode> behind(SqlNode item, int start) {
        Lexeme head = tokens.peek();
        boolean pivot = head.isWord("pivot") && tokens.peekAt(1).isSymbol("(");
        boolean nulls = head.isWord("unpivot") && tokens.peekAt(2).isWord("nulls");
        boolean unpivot = nulls || head.isWord("unpivot") && tokens.peekAt(1).isSymbol("(");
        if (!pivot && !unpivot) {
            return Optional.empty();
        }
        tokens.next();
        boolean withNulls = nulls && tokens.peek().isWord("include");
        if (nulls) {
            tokens.next();
            tokens.next();
        }
        tokens.require("(");
        SqlNode select = pivot ? pivotBehind(head, item) : unpivotBehind(head, item, withNulls);
        tokens.require(")");
        return Optional.of(select.clone(tokens.positionFrom(start)));
    }

    private SqlNode pivotBehind(Lexeme head, SqlNode item) {
        List<Part> aggregates = aggregates();
        tokens.requireWord("for");
        On on = on(head);
        List<SqlNode> groups = tokens.acceptAll("group", "by") ? grammar.expressions.list() : List.of();
        return pivot(head, item, List.of(on), aggregates, groups);
    }

    private SqlNode unpivotBehind(Lexeme head, SqlNode item, boolean withNulls) {
        String value = tokens.label().getSimple();
        tokens.requireWord("for");
        String name = tokens.label().getSimple();
        tokens.requireWord("in");
        tokens.require("(");
        List<Part> columns = new ArrayList<>();
        do {
            columns.add(unpivoted(head));
        } while (tokens.acceptComma());
        tokens.require(")");
        return unpivot(head, item, columns, name, value, withNulls);
    }

    // ---- parts -----------------------------------------------------------------------------------------------------

    private On on(Lexeme head) {
        int place = tokens.place();
        column();
        Part column = new Part(place, tokens.place(), "");
        if (!tokens.accept("in") || !tokens.peek().isSymbol("(")) {
            throw MillraceException.notAvailableYet("PIVOT without the values that become columns")
                    .withHint(
                            "say them: PIVOT t ON c IN ('x', 'y') USING ..; a query's columns cannot depend on rows to come")
                    .at(head.start() + 1);
        }
        tokens.require("(");
        List<Part> values = new ArrayList<>();
        do {
            values.add(part());
        } while (tokens.acceptComma());
        tokens.require(")");
        return new On(column, values);
    }

    private SqlNode column() {
        return grammar.expressions.operation(Level.OTHER);
    }

    /** An expression, which gives its last word as a name unless AS says another. */
    private Part part() {
        int place = tokens.place();
        grammar.expressions.expression();
        int end = tokens.place();
        String last = tokens.peekAt(-1).text();
        return new Part(place, end, tokens.accept("as") ? alias() : last);
    }

    private String alias() {
        Lexeme alias = tokens.peek();
        if (!alias.isName() && alias.kind() != Kind.STRING) {
            throw tokens.unexpected();
        }
        return tokens.next().text();
    }

    /** The names of these are what columns of several aggregates end with, empty for those without AS. */
    private List<Part> aggregates() {
        List<Part> aggregates = new ArrayList<>();
        do {
            int place = tokens.place();
            grammar.expressions.expression();
            int end = tokens.place();
            boolean named = tokens.accept("as") || QueryWords.isAlias(tokens);
            aggregates.add(new Part(place, end, named ? tokens.label().getSimple() : ""));
        } while (tokens.acceptComma());
        return aggregates;
    }

    private Part unpivoted(Lexeme head) {
        int place = tokens.place();
        if (!QueryWords.isName(tokens.peek()) || !(tokens.peekAt(1).isWord("as") || ends(tokens.peekAt(1)))) {
            throw MillraceException.notAvailableYet("UNPIVOT of anything but columns by their names")
                    .withHint("UNPIVOT t ON a, b INTO NAME name VALUE value")
                    .at(head.start() + 1);
        }
        String name = tokens.next().text();
        return new Part(place, tokens.place(), tokens.accept("as") ? alias() : name);
    }

    private static boolean ends(Lexeme next) {
        return next.isSymbol(",")
                || next.isSymbol(";")
                || Tokens.closes(next)
                || next.kind() == Kind.END
                || next.kind() == Kind.WORD;
    }

    private <T> T again(Part part, Supplier<T> production) {
        return grammar.again(part.place, production);
    }

    // ---- what they become ------------------------------------------------------------------------------------------

    private SqlNode pivot(Lexeme head, SqlNode source, List<On> ons, List<Part> aggregates, List<SqlNode> groups) {
        SqlParserPos position = Tokens.position(head);
        List<SqlNode> items = new ArrayList<>(groups);
        if (groups.isEmpty()) {
            items.add(StarParser.without("star without", read(ons, aggregates), position));
        }
        for (On on : ons) {
            for (Part value : on.values) {
                if (aggregates.isEmpty()) {
                    SqlNode count = SyntaxNodes.function("count", position, SqlIdentifier.star(position));
                    items.add(filtered(on, value, count, "", position));
                }
                for (Part aggregate : aggregates) {
                    SqlNode call = again(aggregate, grammar.expressions::expression);
                    items.add(filtered(on, value, call, suffix(aggregate, aggregates.size() > 1), position));
                }
            }
        }
        SqlNodeList all = SqlNodeList.of(SyntaxNodes.name(FromClauses.ALL_COLUMNS, position));
        return SyntaxNodes.select(position, items, source, null, all);
    }

    private SqlNode filtered(On on, Part value, SqlNode aggregate, String suffix, SqlParserPos position) {
        SqlNode column = again(on.column, this::column);
        SqlNode constant = again(value, grammar.expressions::expression);
        SqlNode equal = SqlStdOperatorTable.EQUALS.createCall(position, column, constant);
        SqlNode filter = SqlStdOperatorTable.FILTER.createCall(position, aggregate, equal);
        return SqlStdOperatorTable.AS.createCall(position, filter, SyntaxNodes.name(value.name + suffix, position));
    }

    private String suffix(Part aggregate, boolean several) {
        if (!aggregate.name.isEmpty()) {
            return "_" + aggregate.name;
        }
        if (!several) {
            return "";
        }
        StringBuilder text = new StringBuilder("_");
        for (Lexeme lexeme : tokens.lexemes().subList(aggregate.place, aggregate.end)) {
            text.append(lexeme.text());
        }
        return text.toString();
    }

    /** The columns that a pivot reads: names in its parts that are not called. */
    private List<String> read(List<On> ons, List<Part> aggregates) {
        List<String> names = new ArrayList<>();
        ons.forEach(on -> names(on.column, names));
        aggregates.forEach(aggregate -> names(aggregate, names));
        return names;
    }

    private void names(Part part, List<String> names) {
        List<Lexeme> lexemes = tokens.lexemes();
        for (int i = part.place; i < part.end; i++) {
            boolean called = i + 1 < part.end && lexemes.get(i + 1).isSymbol("(");
            if (lexemes.get(i).isName() && !called) {
                names.add(lexemes.get(i).text());
            }
        }
    }

    private SqlNode unpivot(
            Lexeme head, SqlNode source, List<Part> columns, String name, String value, boolean withNulls) {
        SqlParserPos position = Tokens.position(head);
        List<String> names = new ArrayList<>();
        List<SqlNode> rows = new ArrayList<>();
        for (Part column : columns) {
            SqlIdentifier identifier = again(column, tokens::queryName);
            names.add(identifier.getSimple());
            rows.add(SqlStdOperatorTable.ROW.createCall(position, SyntaxNodes.text(column.name, position), identifier));
        }
        SqlNode made = SqlStdOperatorTable.AS.createCall(
                position,
                SqlStdOperatorTable.LATERAL.createCall(position, SqlStdOperatorTable.VALUES.createCall(position, rows)),
                SyntaxNodes.name(FromClauses.UNPIVOTED, position),
                SyntaxNodes.name(name, position),
                SyntaxNodes.name(value, position));
        SqlNode from = new SqlJoin(
                position,
                source,
                SqlLiteral.createBoolean(false, position),
                JoinType.CROSS.symbol(position),
                made,
                JoinConditionType.NONE.symbol(position),
                null);
        List<SqlNode> items = List.of(
                StarParser.without("star exclude", names, position),
                new SqlIdentifier(List.of(FromClauses.UNPIVOTED, name), position),
                new SqlIdentifier(List.of(FromClauses.UNPIVOTED, value), position));
        SqlNode where = withNulls
                ? null
                : SqlStdOperatorTable.IS_NOT_NULL.createCall(
                        position, new SqlIdentifier(List.of(FromClauses.UNPIVOTED, value), position));
        return SyntaxNodes.select(position, items, from, where, null);
    }
}
