package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.JoinType;
import org.apache.calcite.sql.SqlAsofJoin;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSnapshot;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/** Items of FROM and the joins between them; functions there are {@link TableCallParser}'s. */
final class FromParser {
    private final Grammar grammar;
    private final Tokens tokens;
    private final TableCallParser functions;

    FromParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
        this.functions = new TableCallParser(grammar);
    }

    /**
     * What is behind FROM, or behind USING of DELETE and MERGE. Joins bind tighter than commas. Where that makes no difference they
     * are taken from left to right, so that items see those before them:
     *
     * <pre>
     * a, b JOIN c ON x            (a, b) JOIN c ON x
     * a, b RIGHT JOIN c ON x      a, (b RIGHT JOIN c ON x)
     * a, b JOIN c USING (x)       a, (b JOIN c USING (x))
     * </pre>
     */
    SqlNode clause() {
        SqlNode left = joins(item());
        while (tokens.peek().isSymbol(",")) {
            SqlParserPos position = Tokens.position(tokens.next());
            if (Tokens.closes(tokens.peek())) {
                return left;
            }
            SqlJoin comma = join(left, false, JoinType.COMMA, item(), JoinConditionType.NONE, null, position);
            left = ofComma(comma, joins(comma));
        }
        return left;
    }

    /** A comma and the joins behind it, which were read as if they were of all before them. */
    private static SqlNode ofComma(SqlJoin comma, SqlNode joined) {
        boolean differs = false;
        SqlJoin first = comma;
        for (SqlNode node = joined; node != comma; node = first.getLeft()) {
            first = (SqlJoin) node;
            differs |= first.getJoinType() == JoinType.RIGHT
                    || first.getJoinType() == JoinType.FULL
                    || first.isNatural()
                    || first.getConditionType() == JoinConditionType.USING;
        }
        if (!differs) {
            return joined;
        }
        first.setLeft(comma.getRight());
        comma.setRight(joined);
        return comma;
    }

    private static SqlJoin join(
            SqlNode left,
            boolean natural,
            JoinType type,
            SqlNode right,
            JoinConditionType conditionType,
            @Nullable SqlNode condition,
            SqlParserPos position) {
        return new SqlJoin(
                position,
                left,
                SqlLiteral.createBoolean(natural, position),
                type.symbol(position),
                right,
                conditionType.symbol(position),
                condition);
    }

    // ---- joins -----------------------------------------------------------------------------------------------------

    /** An item and the joins behind it. */
    private SqlNode joins(SqlNode item) {
        SqlNode left = item;
        Optional<SqlNode> joined = joined(left);
        while (joined.isPresent()) {
            left = joined.get();
            joined = joined(left);
        }
        return left;
    }

    /** A relation and the join behind it, if one follows. */
    private Optional<SqlNode> joined(SqlNode left) {
        rejectPositional();
        boolean natural = tokens.accept("natural");
        Optional<JoinType> type = joinType();
        if (type.isEmpty()) {
            if (natural) {
                throw tokens.unexpected();
            }
            return Optional.empty();
        }
        SqlParserPos position = Tokens.position(tokens.peekAt(-1));
        SqlNode right = item();
        if (needsCondition(type.get(), natural)) { // a JOIN b JOIN c ON .. ON ..
            while (!beginsCondition() && beginsConditionalJoin()) {
                right = nested(right);
            }
        }
        return Optional.of(withCondition(left, natural, type.get(), right, position));
    }

    private SqlNode nested(SqlNode left) {
        grammar.enter();
        SqlNode joined = joined(left).orElseThrow(tokens::unexpected);
        grammar.leave();
        return joined;
    }

    private static boolean needsCondition(JoinType type, boolean natural) {
        return !natural && type != JoinType.CROSS;
    }

    private boolean beginsCondition() {
        return tokens.peek().isWord("on")
                || tokens.peek().isWord("using")
                || tokens.peek().isWord("match_condition");
    }

    private boolean beginsConditionalJoin() {
        int place = tokens.place();
        Optional<JoinType> type = joinType();
        tokens.backTo(place);
        return type.isPresent() && type.get() != JoinType.CROSS;
    }

    /** The words of a join, or nothing. */
    private Optional<JoinType> joinType() {
        if (tokens.accept("join") || tokens.acceptAll("inner", "join")) {
            return Optional.of(JoinType.INNER);
        }
        if (tokens.acceptAll("cross", "join")) {
            return Optional.of(JoinType.CROSS);
        }
        if (tokens.acceptAll("left", "join") || tokens.acceptAll("left", "outer", "join")) {
            return Optional.of(JoinType.LEFT);
        }
        if (tokens.acceptAll("right", "join") || tokens.acceptAll("right", "outer", "join")) {
            return Optional.of(JoinType.RIGHT);
        }
        if (tokens.acceptAll("full", "join") || tokens.acceptAll("full", "outer", "join")) {
            return Optional.of(JoinType.FULL);
        }
        if (tokens.acceptAll("semi", "join") || tokens.acceptAll("left", "semi", "join")) {
            return Optional.of(JoinType.LEFT_SEMI_JOIN);
        }
        if (tokens.acceptAll("anti", "join") || tokens.acceptAll("left", "anti", "join")) {
            return Optional.of(JoinType.LEFT_ANTI_JOIN);
        }
        if (tokens.acceptAll("asof", "join") || tokens.acceptAll("asof", "inner", "join")) {
            return Optional.of(JoinType.ASOF);
        }
        boolean left = tokens.acceptAll("asof", "left", "join")
                || tokens.acceptAll("asof", "left", "outer", "join")
                || tokens.acceptAll("left", "asof", "join");
        if (left) {
            return Optional.of(JoinType.LEFT_ASOF);
        }
        if (tokens.peek().isWord("inner")
                || tokens.peek().isWord("cross")
                || tokens.peek().isWord("full")) { // no names
            tokens.next();
            tokens.accept("outer");
            throw tokens.unexpected();
        }
        return Optional.empty();
    }

    private void rejectPositional() {
        if (tokens.peek().isWord("positional") && tokens.peekAt(1).isWord("join")) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "POSITIONAL JOIN is not supported: rows that change have no positions")
                    .withHint("number them: (SELECT *, row_number() OVER (ORDER BY ..) AS n FROM a) AS a"
                            + " FULL JOIN (..) AS b USING (n); lists side by side are unnest(a, b)")
                    .at(tokens.peek().start() + 1);
        }
    }

    private SqlNode withCondition(SqlNode left, boolean natural, JoinType type, SqlNode right, SqlParserPos position) {
        boolean asof = type == JoinType.ASOF || type == JoinType.LEFT_ASOF;
        SqlNode match = SqlLiteral.createBoolean(true, position); // DuckDB has it as a part of ON
        if (tokens.peek().isWord("match_condition") && tokens.peekAt(1).isSymbol("(")) {
            if (!asof) {
                throw tokens.unexpected();
            }
            tokens.next();
            match = grammar.primaries.operand();
            if (!tokens.peek().isWord("on")) {
                throw tokens.unexpected();
            }
        }
        if (tokens.peek().isWord("on")) {
            SqlLiteral on = JoinConditionType.ON.symbol(Tokens.position(tokens.next()));
            SqlNode condition = grammar.expressions.expression();
            SqlLiteral isNatural = SqlLiteral.createBoolean(natural, position);
            return asof
                    ? new SqlAsofJoin(position, left, isNatural, type.symbol(position), right, on, condition, match)
                    : new SqlJoin(position, left, isNatural, type.symbol(position), right, on, condition);
        }
        if (tokens.peek().isWord("using") && !tokens.peekAt(1).isWord("sample")) {
            tokens.next();
            SqlNodeList columns = grammar.queries.names();
            if (!asof && tokens.accept("as")) {
                SqlIdentifier alias = tokens.queryName();
                columns.add(
                        new SqlIdentifier(List.of(FromClauses.USING_AS, alias.getSimple()), alias.getParserPosition()));
            }
            return join(left, natural, type, right, JoinConditionType.USING, columns, position);
        }
        return join(left, natural, type, right, JoinConditionType.NONE, null, position);
    }

    // ---- items -----------------------------------------------------------------------------------------------------

    /** A relation, a function, or a query or joins in parentheses, with its name. */
    SqlNode item() {
        int start = tokens.place();
        boolean lateral = tokens.accept("lateral");
        Lexeme first = tokens.peek();
        SqlNode item;
        if (first.isSymbol("(")) {
            item = parenthesized();
            if (item instanceof SqlJoin && !lateral && isNamed()) { // (a JOIN b) AS j: short for a sub-query
                SqlParserPos position = tokens.positionFrom(start);
                item = SyntaxNodes.select(position, List.of(SqlIdentifier.star(position)), item, null, null);
            }
            item = lateral ? lateral(item, start) : item;
        } else if (first.kind() == Lexeme.Kind.STRING && !lateral) {
            item = functions.files();
        } else if (first.isWord("table") && tokens.peekAt(1).isSymbol("(")) {
            item = functions.explicit();
            item = lateral ? lateral(item, start) : item;
        } else {
            Optional<SqlNode> defined = functions.withColumnDefinitions(start);
            if (defined.isPresent()) {
                return defined.get();
            }
            item = functions.isNext() && !first.isWord("only") ? functions.call() : relation(lateral);
        }
        return behind(item, start);
    }

    private boolean isNamed() {
        return tokens.peek().isWord("as") || QueryWords.isItemAlias(tokens);
    }

    private SqlNode lateral(SqlNode item, int start) {
        return SqlStdOperatorTable.LATERAL.createCall(tokens.positionFrom(start), item);
    }

    private SqlNode parenthesized() {
        tokens.next();
        grammar.enter();
        SqlNode inner;
        if (QueryWords.beginsQuery(tokens)) {
            inner = grammar.queries.query();
        } else {
            inner = joins(item());
            if (inner.isA(SqlKind.QUERY) && QueryWords.continuesQuery(tokens)) { // (SELECT 1) UNION (SELECT 2)
                inner = grammar.queries.rest(inner);
            }
        }
        grammar.leave();
        tokens.require(")");
        return inner;
    }

    /** A relation by its name. */
    private SqlNode relation(boolean lateral) {
        if (lateral) { // of a function or a query
            tokens.queryName();
            throw tokens.unexpected();
        }
        int start = tokens.place();
        boolean only = tokens.accept("only");
        boolean enclosed = only && tokens.acceptSymbol("(");
        SqlIdentifier name = grammar.primaries.path(tokens.queryName());
        if (name.isStar()) {
            throw tokens.syntaxErrorAt(tokens.peekAt(-1));
        }
        if (enclosed) {
            tokens.require(")");
        } else {
            tokens.acceptSymbol("*"); // and what inherits from it, of which there is none
        }
        if (tokens.peek().isWord("for") && tokens.peekAt(1).isWord("system_time")) {
            tokens.acceptAll("for", "system_time");
            if (!tokens.acceptAll("as", "of")) {
                throw tokens.unexpected();
            }
            SqlNode time = grammar.expressions.expression();
            return new SqlSnapshot(tokens.positionFrom(start), name, time);
        }
        return name;
    }

    /** What may stand behind an item: MATCH_RECOGNIZE, PIVOT, a name, TABLESAMPLE. */
    private SqlNode behind(SqlNode first, int start) {
        SqlNode item = first;
        if (grammar.matches.isNext()) {
            item = grammar.matches.match(item);
        }
        Optional<SqlNode> pivoted = grammar.pivots.behind(item, start);
        item = pivoted.orElse(item);
        if (tokens.accept("as")) {
            item = named(item, tokens.label());
        } else if (QueryWords.isItemAlias(tokens)) {
            item = named(item, tokens.named(tokens.next()));
        }
        boolean sample = tokens.peek().isWord("tablesample")
                && (tokens.peekAt(1).isWord("bernoulli") || tokens.peekAt(1).isWord("system"));
        if (sample) {
            throw MillraceException.notAvailableYet("TABLESAMPLE")
                    .withHint("a sixteenth that stays the same: WHERE left(md5(key::text), 1) = '0'")
                    .at(tokens.startOf(start) + 1);
        }
        return item;
    }

    private SqlNode named(SqlNode item, SqlIdentifier alias) {
        List<SqlNode> operands = new ArrayList<>(List.of(item, alias));
        if (tokens.peek().isSymbol("(")) {
            operands.addAll(grammar.queries.names().getList());
        }
        return SqlStdOperatorTable.AS.createCall(
                item.getParserPosition().plus(tokens.positionFrom(tokens.place() - 1)), operands);
    }
}
