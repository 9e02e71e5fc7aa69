package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.syntax.MarkedItem;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/** Whole queries: WITH, set operations, VALUES, TABLE, and the order and counts behind them. */
final class QueryParser {
    private final Grammar grammar;
    private final Tokens tokens;

    QueryParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    /** A query of any kind, which may be in parentheses. */
    SqlNode query() {
        grammar.enter();
        Optional<SqlNodeList> with = tokens.peek().isWord("with") ? Optional.of(with()) : Optional.empty();
        SqlNode body = setOperations(operand());
        SqlNode query = with.isPresent() ? new SqlWith(with.get().getParserPosition(), with.get(), body) : body;
        SqlNode ordered = ordered(query);
        grammar.leave();
        return ordered;
    }

    /** The rest of a query whose first operand was read. */
    SqlNode rest(SqlNode first) {
        return ordered(setOperations(first));
    }

    // ---- WITH ------------------------------------------------------------------------------------------------------

    private SqlNodeList with() {
        int start = tokens.place();
        tokens.next();
        boolean recursive = tokens.accept("recursive");
        List<SqlNode> items = new ArrayList<>();
        do {
            SqlIdentifier name = tokens.queryName();
            SqlNodeList columns = tokens.peek().isSymbol("(") ? names() : null; // as Calcite has none
            tokens.requireWord("as");
            if (!tokens.acceptAll("not", "materialized")) {
                tokens.accept("materialized"); // there is but one way to keep it
            }
            tokens.require("(");
            SqlNode query = query();
            tokens.require(")");
            SqlLiteral isRecursive = SqlLiteral.createBoolean(recursive, name.getParserPosition());
            items.add(marked(new SqlWithItem(name.getParserPosition(), name, columns, query, isRecursive)));
        } while (tokens.acceptComma());
        return new SqlNodeList(items, tokens.positionFrom(start));
    }

    /** A query of WITH, with SEARCH and CYCLE where they stand behind it. */
    private SqlWithItem marked(SqlWithItem item) {
        Optional<MarkedItem.Search> search = Optional.empty();
        if (tokens.accept("search")) {
            boolean depthFirst = tokens.accept("depth");
            if (!depthFirst) {
                tokens.requireWord("breadth");
            }
            tokens.requireWord("first");
            tokens.requireWord("by");
            List<SqlIdentifier> by = columns();
            tokens.requireWord("set");
            search = Optional.of(new MarkedItem.Search(depthFirst, by, tokens.queryName()));
        }
        if (!tokens.accept("cycle")) {
            return search.isEmpty() ? item : new MarkedItem(item, search, Optional.empty());
        }
        List<SqlIdentifier> by = columns();
        tokens.requireWord("set");
        SqlIdentifier mark = tokens.queryName();
        SqlNode value = SqlLiteral.createBoolean(true, mark.getParserPosition());
        SqlNode otherwise = SqlLiteral.createBoolean(false, mark.getParserPosition());
        if (tokens.accept("to")) {
            value = grammar.expressions.expression();
            tokens.requireWord("default");
            otherwise = grammar.expressions.expression();
        }
        tokens.requireWord("using");
        MarkedItem.Cycle cycle = new MarkedItem.Cycle(by, mark, value, otherwise, tokens.queryName());
        return new MarkedItem(item, search, Optional.of(cycle));
    }

    private List<SqlIdentifier> columns() {
        List<SqlIdentifier> columns = new ArrayList<>();
        do {
            columns.add(tokens.queryName());
        } while (tokens.acceptComma());
        return columns;
    }

    /** {@code (a, b)}. */
    SqlNodeList names() {
        int start = tokens.place();
        tokens.require("(");
        List<SqlNode> names = new ArrayList<>();
        do {
            names.add(tokens.queryName());
        } while (tokens.acceptComma());
        tokens.require(")");
        return new SqlNodeList(names, tokens.positionFrom(start));
    }

    // ---- set operations --------------------------------------------------------------------------------------------

    /** INTERSECT binds tighter than UNION and EXCEPT, which are taken from the left. */
    private SqlNode setOperations(SqlNode first) {
        SqlNode left = intersections(first);
        while (tokens.peek().isWord("union") || tokens.peek().isWord("except")) {
            boolean union = tokens.next().isWord("union");
            boolean all = all();
            SqlParserPos position = Tokens.position(tokens.peekAt(-1));
            if (union && tokens.acceptAll("by", "name")) {
                left = SqlStdOperatorTable.UNION_ALL.createCall(
                        position, left, byName(position, List.of(FromClauses.BY_NAME)));
            } else if (union && tokens.accept("corresponding")) {
                left = SqlStdOperatorTable.UNION_ALL.createCall(position, left, byName(position, corresponding()));
            }
            SqlOperator operator = union
                    ? all ? SqlStdOperatorTable.UNION_ALL : SqlStdOperatorTable.UNION
                    : all ? SqlStdOperatorTable.EXCEPT_ALL : SqlStdOperatorTable.EXCEPT;
            left = operator.createCall(position, left, intersections(operand()));
        }
        return left;
    }

    private SqlNode intersections(SqlNode first) {
        SqlNode left = first;
        while (tokens.accept("intersect")) {
            SqlOperator operator = all() ? SqlStdOperatorTable.INTERSECT_ALL : SqlStdOperatorTable.INTERSECT;
            left = operator.createCall(Tokens.position(tokens.peekAt(-1)), left, operand());
        }
        return left;
    }

    private boolean all() {
        boolean all = tokens.accept("all");
        if (!all) {
            tokens.accept("distinct");
        }
        return all;
    }

    /** What the binder knows a UNION BY NAME by: {@code a UNION ALL TABLE "by name" UNION b}; likewise CORRESPONDING. */
    private static SqlNode byName(SqlParserPos position, List<String> how) {
        return SqlStdOperatorTable.EXPLICIT_TABLE.createCall(position, new SqlIdentifier(how, position));
    }

    /** {@code [BY (a, b)]} behind CORRESPONDING, and ALL or DISTINCT before it. */
    private List<String> corresponding() {
        List<String> how = new ArrayList<>(List.of(FromClauses.CORRESPONDING));
        if (tokens.accept("by")) {
            tokens.require("(");
            do {
                how.add(tokens.queryName().getSimple());
            } while (tokens.acceptComma());
            tokens.require(")");
        }
        return how;
    }

    /** SELECT, VALUES, TABLE, PIVOT, or a query in parentheses. */
    private SqlNode operand() {
        Lexeme first = tokens.peek();
        if (first.isSymbol("(")) {
            int start = tokens.place();
            tokens.next();
            SqlNode query = query();
            tokens.require(")");
            return query.clone(tokens.positionFrom(start));
        }
        if (first.kind() != Kind.WORD) {
            throw tokens.unexpected();
        }
        return switch (first.text()) {
            case "select", "from" -> grammar.selects.select();
            case "table" -> explicitTable();
            case "values" -> values();
            default -> {
                if (!QueryWords.beginsPivot(tokens)) {
                    throw tokens.unexpected();
                }
                yield grammar.pivots.query();
            }
        };
    }

    /** {@code TABLE name}. */
    SqlNode explicitTable() {
        Lexeme table = tokens.next();
        SqlIdentifier name = grammar.primaries.path(tokens.queryName());
        return SqlStdOperatorTable.EXPLICIT_TABLE.createCall(Tokens.position(table), name);
    }

    private SqlNode values() {
        int start = tokens.place();
        tokens.next();
        List<SqlNode> rows = new ArrayList<>();
        do {
            tokens.accept("row"); // MySQL's VALUES ROW(1, 2)
            SqlNodeList row = grammar.primaries.parenthesizedList();
            rows.add(SqlStdOperatorTable.ROW.createCall(row.getParserPosition(), row.getList()));
        } while (tokens.acceptComma());
        return SqlStdOperatorTable.VALUES.createCall(tokens.positionFrom(start), rows);
    }

    // ---- order and counts ------------------------------------------------------------------------------------------

    /** What ORDER BY, LIMIT, OFFSET and FETCH say, in any order of the last three. Null is what is not said, as in Calcite. */
    private static final class Counts {
        private final List<SqlNode> keys =
                new ArrayList<>(); // last order keys, which the binder takes for what they say
        private @Nullable SqlNode limit;
        private @Nullable SqlNode offset;
        private boolean limited;
        private boolean started;
    }

    private SqlNode ordered(SqlNode query) {
        if (!QueryWords.continuesQuery(tokens)) {
            return query;
        }
        Optional<SqlNodeList> order =
                tokens.peek().isWord("order") ? Optional.of(grammar.windows.orderBy()) : Optional.empty();
        Counts counts = new Counts();
        boolean more = true;
        while (more) {
            Lexeme word = tokens.peek();
            if (word.isWord("limit") && !counts.limited) {
                limit(counts);
            } else if (word.isWord("offset") && !counts.started) {
                offset(counts);
            } else if (QueryWords.isFetch(tokens) && !counts.limited) {
                fetch(counts, order.isPresent());
            } else {
                more = false;
            }
        }
        List<SqlNode> keys = new ArrayList<>(order.map(SqlNodeList::getList).orElse(List.of()));
        keys.addAll(counts.keys);
        SqlParserPos last = Tokens.position(tokens.peekAt(-1));
        if (order.isEmpty() && counts.limit == null && counts.offset == null && keys.isEmpty()) {
            return query; // LIMIT ALL
        }
        SqlNodeList list = keys.isEmpty()
                ? SqlNodeList.EMPTY
                : new SqlNodeList(keys, order.map(SqlNode::getParserPosition).orElse(last));
        return new SqlOrderBy(last, query, list, counts.offset, counts.limit);
    }

    private void limit(Counts counts) {
        Lexeme word = tokens.next();
        counts.limited = true;
        if (tokens.accept("all")) {
            return;
        }
        if (tokens.peek().isWord("null") && endsCount(tokens.peekAt(1))) {
            tokens.next();
            return;
        }
        counts.limit = count(word, FromClauses.LIMIT_IS, counts);
        if (tokens.peek().isSymbol(",")) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "LIMIT #,# syntax is not supported")
                    .withHint("separate LIMIT and OFFSET clauses")
                    .at(word.start() + 1);
        }
    }

    private void offset(Counts counts) {
        Lexeme word = tokens.next();
        counts.started = true;
        counts.offset = count(word, FromClauses.OFFSET_IS, counts);
        if (!tokens.accept("rows")) {
            tokens.accept("row");
        }
    }

    private void fetch(Counts counts, boolean isOrdered) {
        Lexeme word = tokens.next();
        tokens.next();
        counts.limited = true;
        boolean one = tokens.peek().isWord("row") || tokens.peek().isWord("rows");
        counts.limit = one
                ? SqlLiteral.createExactNumeric("1", Tokens.position(tokens.peek()))
                : count(word, FromClauses.LIMIT_IS, counts);
        if (!tokens.accept("row") && !tokens.accept("rows")) {
            throw tokens.unexpected();
        }
        Lexeme with = tokens.peek();
        if (tokens.acceptAll("with", "ties")) {
            if (!isOrdered) {
                throw MillraceException.user(
                                SqlState.SYNTAX_ERROR, "WITH TIES cannot be specified without ORDER BY clause")
                        .at(with.start() + 1);
            }
            counts.keys.add(SyntaxNodes.name(FromClauses.WITH_TIES, Tokens.position(with)));
        } else tokens.requireWord("only");
    }

    /** A number or parameter as it is; any other expression becomes a key of the order, and null the count. */
    private @Nullable SqlNode count(Lexeme word, String name, Counts counts) {
        Lexeme first = tokens.peek();
        if (first.isSymbol("-") && tokens.peekAt(1).kind() == Kind.INTEGER && endsCount(tokens.peekAt(2))) {
            boolean isOffset = name.equals(FromClauses.OFFSET_IS);
            throw MillraceException.user(
                            isOffset
                                    ? SqlState.INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE
                                    : SqlState.INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
                            word.text().toUpperCase(Locale.ROOT) + " must not be negative")
                    .at(first.start() + 1);
        }
        boolean percent = tokens.peekAt(1).isSymbol("%") && endsCount(tokens.peekAt(2));
        SqlNode count = percent ? grammar.primaries.operand() : grammar.expressions.expression();
        if (percent || tokens.peek().isWord("percent")) {
            throw MillraceException.notAvailableYet("a LIMIT in percent")
                    .withHint("QUALIFY row_number() OVER (ORDER BY ..) <= 0.1 * count(*) OVER ()")
                    .at(word.start() + 1);
        }
        boolean plain = count.getKind() == SqlKind.DYNAMIC_PARAM && first.kind() == Kind.PARAMETER
                || count instanceof SqlLiteral && first.kind() == Kind.INTEGER;
        if (plain) {
            return count;
        }
        counts.keys.add(0, SyntaxNodes.function(name, Tokens.position(word), count));
        return null;
    }

    private static boolean endsCount(Lexeme next) {
        return next.kind() == Kind.END || next.kind() == Kind.WORD || next.isSymbol(";") || Tokens.closes(next);
    }
}
