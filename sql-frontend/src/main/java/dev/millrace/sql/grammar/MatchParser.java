package dev.millrace.sql.grammar;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.avatica.util.TimeUnit;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlMatchRecognize;
import org.apache.calcite.sql.SqlMatchRecognize.AfterOption;
import org.apache.calcite.sql.SqlMatchRecognize.RowsPerMatchOption;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/**
 * MATCH_RECOGNIZE. Its PATTERN is one token, which the binder reads from the text; so are the words behind ALL ROWS PER MATCH.
 */
final class MatchParser {
    private final Grammar grammar;
    private final Tokens tokens;
    private int inside; // how many are open: FIRST, LAST, NEXT, FINAL and RUNNING mean something there

    MatchParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    boolean isInside() {
        return inside > 0;
    }

    /** Whether MATCH_RECOGNIZE stands here, behind an item of FROM or the item's name. */
    boolean isNext() {
        int name = tokens.peek().isWord("as") ? 2 : 0;
        return isAt(name) || name == 0 && QueryWords.isItemAlias(tokens) && isAt(1);
    }

    private boolean isAt(int distance) {
        return tokens.peekAt(distance).isWord("match_recognize")
                && tokens.peekAt(distance + 1).isSymbol("(");
    }

    /** FINAL or RUNNING and what it is of; empty, at the same place, for anything else. */
    Optional<SqlNode> modified() {
        Lexeme word = tokens.peek();
        if (inside == 0
                || !word.isWord("final") && !word.isWord("running")
                || !tokens.peekAt(1).isName()) {
            return Optional.empty();
        }
        int place = tokens.place();
        tokens.next();
        SqlOperator operator = word.isWord("final") ? SqlStdOperatorTable.FINAL : SqlStdOperatorTable.RUNNING;
        SqlNode of = grammar.primaries.operand();
        return Optional.of(operator.createCall(tokens.positionFrom(place), of));
    }

    SqlNode match(SqlNode relation) {
        SqlNode rows = relation;
        if (!isAt(0)) {
            tokens.accept("as");
            rows = SyntaxNodes.as(rows, tokens.label());
        }
        int start = tokens.place();
        tokens.next();
        tokens.require("(");
        inside++;
        int place = tokens.place();
        SqlNodeList partitions = SqlNodeList.EMPTY;
        if (tokens.acceptAll("partition", "by")) {
            partitions = new SqlNodeList(grammar.expressions.list(), tokens.positionFrom(place));
        }
        SqlNodeList order = tokens.peek().isWord("order") ? grammar.windows.orderBy() : SqlNodeList.EMPTY;
        SqlNodeList measures = tokens.accept("measures") ? measures() : SqlNodeList.EMPTY;
        SqlLiteral rowsPerMatch = rowsPerMatch();
        SqlNode after = after();
        SqlNode pattern = pattern();
        SqlLiteral interval = within();
        SqlNodeList subsets = tokens.accept("subset") ? subsets() : SqlNodeList.EMPTY;
        tokens.requireWord("define");
        SqlNodeList definitions = definitions();
        tokens.require(")");
        inside--;
        SqlLiteral no = SqlLiteral.createBoolean(false, pattern.getParserPosition());
        return new SqlMatchRecognize(
                tokens.positionFrom(start),
                rows,
                pattern,
                no,
                no,
                definitions,
                measures,
                after,
                subsets,
                rowsPerMatch,
                partitions,
                order,
                interval);
    }

    private SqlNodeList measures() {
        int start = tokens.place();
        List<SqlNode> measures = new ArrayList<>();
        do {
            SqlNode value = grammar.expressions.expression();
            tokens.requireWord("as");
            measures.add(SyntaxNodes.as(value, tokens.label()));
        } while (tokens.acceptComma());
        return new SqlNodeList(measures, tokens.positionFrom(start));
    }

    /** Null for none, as in Calcite. */
    private @Nullable SqlLiteral rowsPerMatch() {
        int start = tokens.place();
        if (tokens.acceptAll("one", "row", "per", "match")) {
            return RowsPerMatchOption.ONE_ROW.symbol(tokens.positionFrom(start));
        }
        if (!tokens.acceptAll("all", "rows", "per", "match")) {
            return null;
        }
        SqlLiteral all = RowsPerMatchOption.ALL_ROWS.symbol(tokens.positionFrom(start));
        if (!tokens.acceptAll("show", "empty", "matches") && !tokens.acceptAll("omit", "empty", "matches")) {
            tokens.acceptAll("with", "unmatched", "rows");
        }
        return all;
    }

    /** Null for nothing, as in Calcite. */
    private @Nullable SqlNode after() {
        int start = tokens.place();
        if (!tokens.acceptAll("after", "match", "skip")) {
            return null;
        }
        if (tokens.acceptAll("past", "last", "row")) {
            return AfterOption.SKIP_PAST_LAST_ROW.symbol(tokens.positionFrom(start));
        }
        tokens.requireWord("to");
        if (tokens.acceptAll("next", "row")) {
            return AfterOption.SKIP_TO_NEXT_ROW.symbol(tokens.positionFrom(start));
        }
        boolean variable = tokens.peekAt(1).isName() && !tokens.peekAt(1).isWord("pattern");
        boolean first = variable && tokens.accept("first");
        if (variable && !first) {
            tokens.accept("last");
        }
        SqlIdentifier name = tokens.queryName();
        return (first ? SqlMatchRecognize.SKIP_TO_FIRST : SqlMatchRecognize.SKIP_TO_LAST)
                .createCall(tokens.positionFrom(start), name);
    }

    private SqlNode pattern() {
        tokens.requireWord("pattern");
        tokens.require("(");
        Lexeme pattern = tokens.peek();
        if (pattern.kind() != Kind.QUOTED_NAME) {
            throw tokens.unexpected();
        }
        tokens.next();
        tokens.require(")");
        return SyntaxNodes.name("pattern", Tokens.position(pattern));
    }

    /** {@code WITHIN INTERVAL '1 hour'}; the text says it all. Null for nothing, as in Calcite. */
    private @Nullable SqlLiteral within() {
        if (!tokens.accept("within")) {
            return null;
        }
        int start = tokens.place();
        Optional<String> text = tokens.peek().isWord("interval") ? grammar.types.intervalText() : Optional.empty();
        if (text.isEmpty()) {
            throw tokens.unexpected();
        }
        return SqlLiteral.createInterval(
                1,
                text.get(),
                new SqlIntervalQualifier(TimeUnit.SECOND, null, SqlParserPos.ZERO),
                tokens.positionFrom(start));
    }

    private SqlNodeList subsets() {
        int start = tokens.place();
        List<SqlNode> subsets = new ArrayList<>();
        do {
            SqlIdentifier name = tokens.queryName();
            tokens.require("=");
            SqlNodeList variables = grammar.queries.names();
            subsets.add(SyntaxNodes.call(SqlStdOperatorTable.EQUALS, name, variables));
        } while (tokens.acceptComma());
        return new SqlNodeList(subsets, tokens.positionFrom(start));
    }

    private SqlNodeList definitions() {
        int start = tokens.place();
        List<SqlNode> definitions = new ArrayList<>();
        do {
            SqlIdentifier variable = tokens.queryName();
            tokens.requireWord("as");
            definitions.add(SyntaxNodes.call(SqlStdOperatorTable.AS, grammar.expressions.expression(), variable));
        } while (tokens.acceptComma());
        return new SqlNodeList(definitions, tokens.positionFrom(start));
    }
}
