package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.grammar.Infix.Level;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlWindow;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Windows behind OVER and WINDOW, and orders. */
final class WindowParser {
    private final Grammar grammar;
    private final Tokens tokens;

    WindowParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    // ---- orders ----------------------------------------------------------------------------------------------------

    /** {@code ORDER BY a, b DESC}. */
    SqlNodeList orderBy() {
        int place = tokens.place();
        if (!tokens.accept("order") || !tokens.accept("by")) {
            throw tokens.unexpected();
        }
        List<SqlNode> keys = new ArrayList<>();
        do {
            keys.add(orderKey());
        } while (tokens.acceptComma());
        return new SqlNodeList(keys, tokens.positionFrom(place));
    }

    SqlNode orderKey() {
        Lexeme first = tokens.peek();
        SqlNode key;
        if (first.isWord("all") && grammar.selects.endsAll(tokens.peekAt(1))) {
            key = SyntaxNodes.name(FromClauses.ALL_COLUMNS, Tokens.position(tokens.next()));
        } else {
            key = grammar.expressions.expression();
        }
        Lexeme direction = tokens.peek();
        boolean using = direction.isWord("using") // ORDER BY a USING >
                && (tokens.peekAt(1).isSymbol("<") || tokens.peekAt(1).isSymbol(">"));
        if (using) {
            tokens.next();
        }
        if (tokens.accept("desc") || using && tokens.peek().isSymbol(">")) {
            key = SqlStdOperatorTable.DESC.createCall(Tokens.position(direction), key);
        } else {
            tokens.accept("asc");
        }
        if (using) {
            tokens.next();
        }
        Lexeme place = tokens.peekAt(1);
        if (tokens.acceptAll("nulls", "first")) {
            key = SqlStdOperatorTable.NULLS_FIRST.createCall(Tokens.position(place), key);
        } else if (tokens.acceptAll("nulls", "last")) {
            key = SqlStdOperatorTable.NULLS_LAST.createCall(Tokens.position(place), key);
        }
        return key;
    }

    // ---- windows ---------------------------------------------------------------------------------------------------

    /** {@code WINDOW w AS (..), v AS (..)}, behind its first word. */
    SqlNodeList definitions() {
        int place = tokens.place() - 1;
        List<SqlNode> windows = new ArrayList<>();
        Set<String> names = new HashSet<>();
        do {
            SqlIdentifier name = tokens.queryName();
            if (!names.add(name.getSimple())) {
                throw MillraceException.user(
                                SqlState.WINDOWING_ERROR, "window \"" + name.getSimple() + "\" is already defined")
                        .at(name.getParserPosition().getColumnNum());
            }
            tokens.requireWord("as");
            SqlWindow window = specification();
            window.setDeclName(name);
            windows.add(window);
        } while (tokens.acceptComma());
        return new SqlNodeList(windows, tokens.positionFrom(place));
    }

    /** {@code (w PARTITION BY a ORDER BY b ROWS 3 PRECEDING)}. */
    SqlWindow specification() {
        int place = tokens.place();
        tokens.require("(");
        SqlIdentifier base = isBase() ? tokens.named(tokens.next()) : null;
        SqlNodeList partitions = SqlNodeList.EMPTY;
        int partition = tokens.place();
        if (tokens.acceptAll("partition", "by")) {
            partitions = new SqlNodeList(grammar.expressions.list(), tokens.positionFrom(partition));
        }
        SqlNodeList order = tokens.peek().isWord("order") ? orderBy() : SqlNodeList.EMPTY;
        SqlLiteral isRows = SqlLiteral.createBoolean(false, SqlParserPos.ZERO);
        SqlNode low = null; // as Calcite has a bound that is not there
        SqlNode high = null;
        SqlLiteral exclusion = SqlWindow.createExcludeNoOthers(SqlParserPos.ZERO);
        Lexeme unit = tokens.peek();
        if (unit.isWord("rows") || unit.isWord("range") || unit.isWord("groups")) {
            tokens.next();
            isRows = SqlLiteral.createBoolean(unit.isWord("rows"), Tokens.position(unit));
            if (unit.isWord("groups")) {
                order = inGroups(order, unit);
            }
            if (tokens.accept("between")) {
                low = bound();
                tokens.requireWord("and");
                high = bound();
            } else {
                low = bound();
            }
            exclusion = exclusion();
        }
        tokens.require(")");
        return SqlWindow.create(
                null, base, partitions, order, isRows, low, high, null, exclusion, tokens.positionFrom(place));
    }

    /** Whether the name of another window comes first. */
    private boolean isBase() {
        Lexeme next = tokens.peekAt(1);
        if (!QueryWords.isName(tokens.peek()) || tokens.peek().isWord("partition") && next.isWord("by")) {
            return false;
        }
        boolean frame = tokens.peek().isWord("rows")
                || tokens.peek().isWord("range")
                || tokens.peek().isWord("groups");
        return next.isSymbol(")") || !frame;
    }

    /** A frame in GROUPS goes to the binder as one in RANGE with a last order key that says so. */
    private static SqlNodeList inGroups(SqlNodeList order, Lexeme unit) {
        if (order.isEmpty()) {
            throw MillraceException.user(SqlState.WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause")
                    .at(unit.start() + 1);
        }
        List<SqlNode> keys = new ArrayList<>(order.getList());
        keys.add(SyntaxNodes.name(FromClauses.GROUPS_FRAME, Tokens.position(unit)));
        return new SqlNodeList(keys, order.getParserPosition());
    }

    private SqlNode bound() {
        int place = tokens.place();
        if (tokens.acceptAll("current", "row")) {
            return SqlWindow.createCurrentRow(tokens.positionFrom(place));
        }
        if (tokens.acceptAll("unbounded", "preceding")) {
            return SqlWindow.createUnboundedPreceding(tokens.positionFrom(place));
        }
        if (tokens.acceptAll("unbounded", "following")) {
            return SqlWindow.createUnboundedFollowing(tokens.positionFrom(place));
        }
        SqlNode distance = grammar.expressions.operation(Level.IS);
        Lexeme side = tokens.peek();
        if (tokens.accept("preceding")) {
            return SqlWindow.createPreceding(distance, Tokens.position(side));
        }
        if (tokens.accept("following")) {
            return SqlWindow.createFollowing(distance, Tokens.position(side));
        }
        throw tokens.unexpected();
    }

    private SqlLiteral exclusion() {
        if (!tokens.accept("exclude")) {
            return SqlWindow.createExcludeNoOthers(SqlParserPos.ZERO);
        }
        SqlParserPos position = Tokens.position(tokens.peek());
        if (tokens.acceptAll("current", "row")) {
            return SqlWindow.createExcludeCurrentRow(position);
        }
        if (tokens.acceptAll("no", "others")) {
            return SqlWindow.createExcludeNoOthers(position);
        }
        if (tokens.accept("group")) {
            return SqlWindow.createExcludeGroup(position);
        }
        if (tokens.accept("ties")) {
            return SqlWindow.createExcludeTies(position);
        }
        throw tokens.unexpected();
    }
}
