package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.fun.SqlInternalOperators;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/** SELECT with its clauses, up to QUALIFY; DuckDB's begins with FROM. */
final class SelectParser {
    /** What may follow GROUP BY ALL or ORDER BY ALL. */
    private static final Set<String> BEHIND_ALL = Set.of(
            "from",
            "where",
            "group",
            "having",
            "window",
            "qualify",
            "order",
            "limit",
            "offset",
            "fetch",
            "union",
            "intersect",
            "except",
            "emit",
            "for",
            "select",
            "asc",
            "desc",
            "nulls");

    /** The parts of a SELECT as they are read; null for those that are not there, as Calcite has it. */
    private static final class Clauses {
        private final List<SqlLiteral> keywords = new ArrayList<>();
        private List<SqlNode> items = new ArrayList<>();
        private @Nullable SqlNode from;
        private @Nullable SqlNode where;
        private @Nullable SqlNodeList groups;
        private @Nullable SqlNode having;
        private @Nullable SqlNodeList windows;
        private @Nullable SqlNode qualify;
    }

    private final Grammar grammar;
    private final Tokens tokens;

    SelectParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    SqlNode select() {
        int start = tokens.place();
        Clauses clauses = new Clauses();
        Lexeme first = tokens.next();
        if (first.isWord("from")) {
            clauses.from = grammar.froms.clause();
            if (tokens.accept("select")) {
                list(clauses);
            } else {
                clauses.items.add(SqlIdentifier.star(Tokens.position(first)));
            }
        } else {
            list(clauses);
            if (tokens.accept("from")) {
                clauses.from = grammar.froms.clause();
            }
        }
        return rest(clauses, start);
    }

    /** PostgreSQL's {@code (SELECT FROM t ..)}, which only EXISTS has a use for. */
    SqlNode withoutItems() {
        int start = tokens.place();
        tokens.require("(");
        tokens.next();
        Clauses clauses = new Clauses();
        clauses.items.add(SqlLiteral.createExactNumeric("1", Tokens.position(tokens.next())));
        clauses.from = grammar.froms.clause();
        SqlNode query = grammar.queries.rest(rest(clauses, start + 1));
        tokens.require(")");
        return query.clone(tokens.positionFrom(start));
    }

    private SqlNode rest(Clauses clauses, int start) {
        if (tokens.peek().isWord("using") && tokens.peekAt(1).isWord("sample")) {
            throw MillraceException.notAvailableYet("USING SAMPLE")
                    .withHint("a sixteenth that stays the same: WHERE left(md5(key::text), 1) = '0'")
                    .at(tokens.peek().start() + 1);
        }
        int clause = tokens.place();
        if (tokens.accept("where")) {
            clauses.where = grammar.expressions.expression();
        }
        if (tokens.peek().isWord("group")) {
            clauses.groups = groupBy();
        }
        if (tokens.accept("having")) {
            clauses.having = grammar.expressions.expression();
        }
        if (tokens.accept("window")) {
            clauses.windows = grammar.windows.definitions();
        }
        if (QueryWords.isQualify(tokens)) {
            tokens.next();
            clauses.qualify = grammar.expressions.expression();
        }
        if (clauses.from == null && clause < tokens.place()) { // one row without columns: the tree wants a relation
            clauses.from =
                    SyntaxNodes.name(FromClauses.ONE_ROW, Tokens.position(tokens.peekAt(clause - tokens.place())));
        }
        SqlParserPos position = tokens.positionFrom(start);
        return new SqlSelect(
                position,
                new SqlNodeList(clauses.keywords, position),
                new SqlNodeList(clauses.items, SqlParserPos.sum(clauses.items)),
                clauses.from,
                clauses.where,
                clauses.groups,
                clauses.having,
                clauses.windows,
                clauses.qualify,
                null,
                null,
                null,
                null);
    }

    // ---- the list --------------------------------------------------------------------------------------------------

    /** Behind SELECT. */
    private void list(Clauses clauses) {
        int place = tokens.place();
        if (tokens.peek().isWord("distinct")
                && tokens.peekAt(1).isWord("on")
                && tokens.peekAt(2).isSymbol("(")) {
            tokens.next();
            tokens.next();
            SqlNodeList keys = grammar.primaries.parenthesizedList();
            SqlIdentifier name =
                    SyntaxNodes.name("distinct on", Tokens.position(tokens.peekAt(place - tokens.place())));
            clauses.items.add(SyntaxNodes.function(name, tokens.positionFrom(place), keys.getList()));
        } else if (tokens.peek().isWord("distinct")) {
            clauses.keywords.add(SqlSelectKeyword.DISTINCT.symbol(Tokens.position(tokens.next())));
        } else if (tokens.peek().isWord("all")) {
            clauses.keywords.add(SqlSelectKeyword.ALL.symbol(Tokens.position(tokens.next())));
        }
        do {
            clauses.items.add(item());
        } while (tokens.acceptComma() && !endsList());
    }

    /** Whether FROM stands behind a comma that says nothing. */
    private boolean endsList() {
        return tokens.peek().isWord("from");
    }

    /** An expression with its name, or a star. */
    SqlNode item() {
        if (tokens.peek().isSymbol("*")) {
            return named(grammar.stars.star());
        }
        if (tokens.peek().isName() && tokens.peekAt(1).isSymbol(":")) { // DuckDB's n: lower(a)
            SqlIdentifier name = tokens.label();
            tokens.next();
            return SyntaxNodes.as(grammar.expressions.expression(), name);
        }
        SqlNode value = grammar.expressions.expression();
        if (value instanceof SqlIdentifier star && star.isStar()) {
            value = grammar.stars.modified(star);
        }
        return named(value);
    }

    private SqlNode named(SqlNode value) {
        if (tokens.accept("as")) { // a text in quotes is DuckDB's
            return SyntaxNodes.as(
                    value, tokens.peek().kind() == Kind.STRING ? tokens.named(tokens.next()) : tokens.label());
        }
        return QueryWords.isAlias(tokens) ? SyntaxNodes.as(value, tokens.named(tokens.next())) : value;
    }

    // ---- GROUP BY --------------------------------------------------------------------------------------------------

    /** Whether what follows ALL leaves it to mean all columns. */
    boolean endsAll(Lexeme next) {
        return next.kind() == Kind.END
                || next.isSymbol(";")
                || Tokens.closes(next)
                || next.kind() == Kind.WORD && BEHIND_ALL.contains(next.text());
    }

    private SqlNodeList groupBy() {
        int place = tokens.place();
        if (!tokens.acceptAll("group", "by")) {
            tokens.next();
            throw tokens.unexpected();
        }
        if (tokens.peek().isWord("all") && endsAll(tokens.peekAt(1))) {
            SqlNode all = SyntaxNodes.name(FromClauses.ALL_COLUMNS, Tokens.position(tokens.next()));
            return new SqlNodeList(List.of(all), tokens.positionFrom(place));
        }
        boolean distinct = tokens.accept("distinct");
        if (!distinct) {
            tokens.accept("all");
        }
        List<SqlNode> elements = groupingElements();
        SqlParserPos position = tokens.positionFrom(place);
        return new SqlNodeList(
                distinct ? List.of(SqlInternalOperators.GROUP_BY_DISTINCT.createCall(position, elements)) : elements,
                position);
    }

    private List<SqlNode> groupingElements() {
        List<SqlNode> elements = new ArrayList<>();
        do {
            elements.add(groupingElement());
        } while (tokens.acceptComma());
        return elements;
    }

    private SqlNode groupingElement() {
        int place = tokens.place();
        if (tokens.peek().isWord("grouping") && tokens.peekAt(1).isWord("sets")) {
            grammar.enter();
            tokens.acceptAll("grouping", "sets");
            tokens.require("(");
            List<SqlNode> sets = groupingElements();
            tokens.require(")");
            grammar.leave();
            return SqlStdOperatorTable.GROUPING_SETS.createCall(tokens.positionFrom(place), sets);
        }
        boolean rollup = tokens.peek().isWord("rollup");
        if ((rollup || tokens.peek().isWord("cube")) && tokens.peekAt(1).isSymbol("(")) {
            tokens.next();
            tokens.require("(");
            List<SqlNode> keys = grammar.expressions.list();
            tokens.require(")");
            return (rollup ? SqlStdOperatorTable.ROLLUP : SqlStdOperatorTable.CUBE)
                    .createCall(tokens.positionFrom(place), keys);
        }
        if (tokens.peek().isSymbol("(") && tokens.peekAt(1).isSymbol(")")) {
            tokens.next();
            tokens.next();
            return new SqlNodeList(tokens.positionFrom(place));
        }
        return grammar.expressions.expression();
    }
}
