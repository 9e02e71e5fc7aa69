package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/** What changes rows: INSERT, UPDATE, DELETE, TRUNCATE, and WITH before them. */
final class ChangeParser {
    private static final Set<String> CHANGES = Set.of("insert", "update", "delete", "merge");
    private static final Set<String> QUERIES = Set.of("select", "values", "table", "from", "pivot", "unpivot");

    private final Words words;

    ChangeParser(Words words) {
        this.words = words;
    }

    // ---- WITH ------------------------------------------------------------------------------------------------------

    /** Whether what follows is WITH and a statement that changes rows, in it or behind it. */
    boolean isNextBehindWith() {
        int depth = 0;
        for (int i = 1;
                words.peekAt(i).kind() != Lexeme.Kind.END && !words.peekAt(i).isSymbol(";");
                i++) {
            Lexeme lexeme = words.peekAt(i);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            boolean begins =
                    words.peekAt(i - 1).isSymbol("(") || words.peekAt(i - 1).isSymbol(")");
            if (depth == 1
                    && begins
                    && isOneOf(lexeme, CHANGES)
                    && (words.peekAt(i - 2).isWord("as") || words.peekAt(i - 2).isWord("materialized"))) {
                return true;
            }
            if (depth == 0 && begins && (isOneOf(lexeme, CHANGES) || isOneOf(lexeme, QUERIES))) {
                return isOneOf(lexeme, CHANGES);
            }
        }
        return false;
    }

    /** Whether a word is one that queries begin with. */
    static boolean beginsQuery(Lexeme lexeme) {
        return lexeme.isWord("with") || isOneOf(lexeme, QUERIES);
    }

    private static boolean isOneOf(Lexeme lexeme, Set<String> some) {
        return lexeme.kind() == Lexeme.Kind.WORD && some.contains(lexeme.text());
    }

    Syntax afterWith() {
        Lexeme head = words.peek();
        words.expect("with");
        boolean recursive = words.accept("recursive");
        List<SqlNode> tables = new ArrayList<>();
        List<Syntax.Part> parts = new ArrayList<>();
        do {
            SqlIdentifier name = words.simpleIdentifier();
            List<SqlIdentifier> columns = words.optionalColumns();
            words.expect("as");
            if (!words.acceptAll("not", "materialized")) {
                words.accept("materialized");
            }
            words.expectSymbol("(");
            SqlNode query;
            if (isOneOf(words.peek(), CHANGES)) {
                String rows = Relation.ROWS_OF + name.getSimple();
                parts.add(new Syntax.Part(name.getSimple(), rows, change(List.copyOf(tables))));
                query = SqlStdOperatorTable.EXPLICIT_TABLE.createCall(
                        name.getParserPosition(), new SqlIdentifier(rows, name.getParserPosition()));
            } else {
                query = words.query();
            }
            words.expectSymbol(")");
            boolean givesRows = parts.isEmpty()
                    || !parts.get(parts.size() - 1).name().equals(name.getSimple())
                    || parts.get(parts.size() - 1).change().returnsRows();
            if (givesRows) {
                tables.add(new SqlWithItem(
                        name.getParserPosition(),
                        name,
                        columns.isEmpty() ? null : new SqlNodeList(columns, name.getParserPosition()),
                        query,
                        SqlLiteral.createBoolean(recursive, name.getParserPosition())));
            }
        } while (words.acceptComma());
        Syntax main = isOneOf(words.peek(), CHANGES) ? change(tables) : select(tables, position(head));
        return parts.isEmpty() ? main : new Syntax.WithChanges(parts, main);
    }

    /** The SELECT behind changes. */
    private Syntax select(List<SqlNode> tables, SqlParserPos position) {
        Syntax.QueryText text = StatementParser.queryText(words);
        SqlNode query = tables.isEmpty()
                ? text.query()
                : new SqlWith(position, new SqlNodeList(tables, position), text.query());
        return new Syntax.Select(new Syntax.QueryText(query, text.emit(), text.text()), words.optionalOptions());
    }

    Syntax change() {
        return change(List.of());
    }

    private Syntax change(List<SqlNode> with) {
        Lexeme verb = words.next();
        return switch (verb.text()) {
            case "insert" -> insert(with);
            case "update" -> update(with);
            case "delete" -> delete(with);
            default -> new MergeParser(words, this).merge(with);
        };
    }

    /** Whether all there is is an INSERT of constants and nothing behind them: words, names and constants, in flat lists. */
    boolean isInsertOfConstants() {
        if (!words.peek().isWord("insert")) {
            return false;
        }
        boolean inRows = false;
        int depth = 0;
        for (int i = 1; words.peekAt(i).kind() != Lexeme.Kind.END; i++) {
            Lexeme lexeme = words.peekAt(i);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            boolean fits = switch (lexeme.kind()) {
                case WORD -> inRows ? depth == 1 : !isOneOf(lexeme, QUERIES) || lexeme.isWord("values");
                case QUOTED_NAME -> !inRows;
                case STRING, INTEGER, DECIMAL -> inRows;
                case PUNCTUATION -> !lexeme.isSymbol(";") || words.peekAt(i + 1).kind() == Lexeme.Kind.END;
                case OPERATOR -> inRows && lexeme.isSymbol("-");
                default -> false;
            };
            if (!fits || depth < 0 || depth > 1) {
                return false;
            }
            inRows |= lexeme.isWord("values");
        }
        return inRows;
    }

    // ---- INSERT ----------------------------------------------------------------------------------------------------

    private Syntax insert(List<SqlNode> with) {
        words.expect("into");
        SqlIdentifier relation = words.identifier();
        Optional<SqlIdentifier> alias = words.accept("as") ? Optional.of(words.simpleIdentifier()) : Optional.empty();
        Map<Integer, SqlNode> parts = new HashMap<>();
        List<SqlIdentifier> columns = hasParts() ? columnsInParts(parts) : words.optionalColumns();
        Syntax.Overriding overriding = overriding();
        Words values = words.copy();
        Optional<LiteralRows> literals = Optional.empty();
        Supplier<SqlNode> source;
        if (words.acceptAll("default", "values")) {
            if (!columns.isEmpty()) {
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "DEFAULT VALUES takes no columns")
                        .at(columns.get(0).getParserPosition().getColumnNum());
            }
            SqlParserPos position = position(values.peek());
            SqlNode row = SqlStdOperatorTable.ROW.createCall(position, byDefault(position));
            source = () -> SqlStdOperatorTable.VALUES.createCall(position, row);
        } else {
            literals = parts.isEmpty() ? LiteralRowsParser.read(words) : Optional.empty();
            if (literals.isPresent()) {
                source = () -> values.copy().query();
            } else {
                SqlNode query = words.query();
                source = () -> query;
            }
        }
        Optional<Syntax.Conflict> conflict =
                words.acceptAll("on", "conflict") ? Optional.of(conflict()) : Optional.empty();
        return new Syntax.Insert(
                relation, alias, columns, parts, overriding, source, literals, conflict, returning(), with);
    }

    /** Whether columns follow of which one is given in part. */
    private boolean hasParts() {
        int place = 1;
        while (words.peekAt(place).isName() && words.peekAt(place + 1).isSymbol(",")) {
            place += 2;
        }
        return words.peek().isSymbol("(")
                && words.peekAt(place).isName()
                && words.peekAt(place + 1).isSymbol("[");
    }

    /** {@code (a[1], a[2], b)}, which makes an array of its elements. */
    private List<SqlIdentifier> columnsInParts(Map<Integer, SqlNode> parts) {
        List<SqlIdentifier> columns = new ArrayList<>();
        words.expectSymbol("(");
        do {
            SqlIdentifier column = words.simpleIdentifier();
            if (words.peek().isSymbol("[")) {
                parts.put(columns.size(), words.subscripts(column));
            }
            columns.add(column);
        } while (words.acceptComma());
        words.expectSymbol(")");
        return columns;
    }

    Syntax.Overriding overriding() {
        if (!words.accept("overriding")) {
            return Syntax.Overriding.NOTHING;
        }
        boolean system = words.accept("system");
        if (!system) {
            words.expect("user");
        }
        words.expect("value");
        return system ? Syntax.Overriding.SYSTEM_VALUE : Syntax.Overriding.USER_VALUE;
    }

    private static SqlParserPos position(Lexeme lexeme) {
        return new SqlParserPos(1, lexeme.start() + 1, 1, lexeme.end());
    }

    private static SqlNode byDefault(SqlParserPos position) {
        return SqlStdOperatorTable.DEFAULT.createCall(position);
    }

    /** What is behind ON CONFLICT. */
    private Syntax.Conflict conflict() {
        int start = words.peekAt(-2).start() + 1;
        Optional<SqlIdentifier> constraint = Optional.empty();
        List<SqlIdentifier> target = List.of();
        Optional<SqlNode> condition = Optional.empty();
        if (words.acceptAll("on", "constraint")) {
            constraint = Optional.of(words.simpleIdentifier());
        } else {
            target = words.optionalColumns();
            if (!target.isEmpty() && words.accept("where")) {
                condition = Optional.of(words.expression());
            }
            if (words.peek().isSymbol("(")) {
                throw MillraceException.notAvailableYet("ON CONFLICT with an expression as its target")
                        .at(words.peek().start() + 1)
                        .withHint(
                                "the columns of the primary key, or of UNIQUE for DO NOTHING, are the targets there are");
            }
        }
        words.expect("do");
        if (words.accept("nothing")) {
            return new Syntax.Conflict(target, condition, constraint, List.of(), Optional.empty(), start);
        }
        words.expect("update");
        words.expect("set");
        return new Syntax.Conflict(target, condition, constraint, assignments(), where(), start);
    }

    // ---- UPDATE and DELETE -----------------------------------------------------------------------------------------

    private Syntax update(List<SqlNode> with) {
        words.accept("only");
        SqlIdentifier relation = words.identifier();
        words.acceptSymbol("*"); // and what inherits from it, of which there is none
        Optional<SqlIdentifier> alias = alias("set");
        words.expect("set");
        List<Syntax.Assignment> assignments = assignments();
        Optional<SqlNode> from = words.accept("from") ? Optional.of(words.fromClause()) : Optional.empty();
        return new Syntax.Update(relation, alias, assignments, from, where(), returning(), with);
    }

    private Syntax delete(List<SqlNode> with) {
        words.expect("from");
        words.accept("only");
        SqlIdentifier relation = words.identifier();
        words.acceptSymbol("*"); // and what inherits from it, of which there is none
        Optional<SqlIdentifier> alias =
                words.peek().isWord("using") || words.peek().isWord("returning") ? Optional.empty() : alias("where");
        Optional<SqlNode> using = words.accept("using") ? Optional.of(words.fromClause()) : Optional.empty();
        return new Syntax.Delete(relation, alias, using, where(), returning(), with);
    }

    Optional<SqlIdentifier> alias(String following) {
        if (words.accept("as") || words.peek().isName() && !words.peek().isWord(following)) {
            return Optional.of(words.simpleIdentifier());
        }
        return Optional.empty();
    }

    private Optional<SqlNode> where() {
        if (words.peek().isWord("where") && words.peekAt(1).isWord("current")) {
            throw MillraceException.notAvailableYet("WHERE CURRENT OF")
                    .at(words.peek().start() + 1)
                    .withHint("WHERE with the row's key");
        }
        return words.accept("where") ? Optional.of(words.expression()) : Optional.empty();
    }

    /** {@code a = 1, (b, c) = (2, DEFAULT), (d, e) = (SELECT ..)}. */
    List<Syntax.Assignment> assignments() {
        List<Syntax.Assignment> assignments = new ArrayList<>();
        do {
            if (words.peek().isSymbol("(")) {
                severalColumns(assignments);
            } else {
                SqlIdentifier column = words.simpleIdentifier();
                Optional<SqlNode> part =
                        words.peek().isSymbol("[") ? Optional.of(words.subscripts(column)) : Optional.empty();
                words.expectSymbol("=");
                assignments.add(new Syntax.Assignment(List.of(column), value(), part));
            }
        } while (words.acceptComma());
        return assignments;
    }

    private void severalColumns(List<Syntax.Assignment> assignments) {
        List<SqlIdentifier> columns = words.optionalColumns();
        if (columns.isEmpty()) {
            throw words.syntaxError();
        }
        words.expectSymbol("=");
        boolean row = words.accept("row");
        int position = words.peek().start() + 1;
        words.expectSymbol("(");
        if (!row && beginsQuery(words.peek())) {
            assignments.add(new Syntax.Assignment(columns, words.query()));
            words.expectSymbol(")");
            return;
        }
        List<SqlNode> values = new ArrayList<>();
        do {
            values.add(value());
        } while (words.acceptComma());
        words.expectSymbol(")");
        if (values.size() != columns.size()) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "number of columns does not match number of values")
                    .at(position);
        }
        for (int i = 0; i < values.size(); i++) {
            assignments.add(new Syntax.Assignment(List.of(columns.get(i)), values.get(i)));
        }
    }

    SqlNode value() {
        return words.peek().isWord("default") ? byDefault(position(words.next())) : words.expression();
    }

    /** RETURNING as a select list; empty without it. */
    List<SqlNode> returning() {
        List<SqlNode> items = new ArrayList<>();
        if (words.accept("returning")) {
            do {
                items.add(words.item());
            } while (words.acceptComma());
        }
        return items;
    }

    Syntax truncate() {
        words.expect("truncate");
        words.accept("table");
        List<SqlIdentifier> relations = new ArrayList<>();
        do {
            words.accept("only");
            relations.add(words.identifier());
            words.acceptSymbol("*");
        } while (words.acceptComma());
        boolean restart = words.acceptAll("restart", "identity");
        if (!restart) {
            words.acceptAll("continue", "identity");
        }
        boolean cascade = words.accept("cascade");
        if (!cascade) {
            words.accept("restrict");
        }
        return new Syntax.Truncate(relations, restart, cascade);
    }
}
