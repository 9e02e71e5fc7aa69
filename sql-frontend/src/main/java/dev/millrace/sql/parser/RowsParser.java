package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;

/** What reads and writes rows: SELECT, SUBSCRIBE, cursors, COPY, INSERT, UPDATE, DELETE. */
final class RowsParser {
    private final Words words;
    private final StatementParser statements;

    RowsParser(Words words, StatementParser statements) {
        this.words = words;
        this.statements = statements;
    }

    Syntax select() {
        return new Syntax.Select(StatementParser.queryText(words));
    }

    // ---- SUBSCRIBE and cursors -------------------------------------------------------------------------------------

    Syntax subscribe() {
        words.expect("subscribe");
        words.accept("to");
        Optional<SqlIdentifier> relation = Optional.empty();
        Syntax.QueryText query;
        if (words.peek().isSymbol("(")) {
            words.next();
            query = StatementParser.queryText(words);
            words.expectSymbol(")");
        } else if (words.peek().isWord("select")
                || words.peek().isWord("with")
                || words.peek().isWord("values")) {
            query = StatementParser.queryText(words);
        } else {
            relation = Optional.of(words.identifier());
            query = StatementParser.allOf(relation.get());
        }
        Optional<SqlNode> asOf = asOf();
        boolean snapshot = false;
        boolean progress = false;
        for (Map.Entry<String, String> option : words.optionalOptions().entrySet()) {
            boolean value =
                    !option.getValue().equals("false") && !option.getValue().equals("off");
            switch (option.getKey()) {
                case "snapshot" -> snapshot = value;
                case "progress" -> progress = value;
                default ->
                    throw MillraceException.user(
                                    SqlState.INVALID_PARAMETER_VALUE,
                                    "option \"" + option.getKey() + "\" does not exist")
                            .withHint("options of SUBSCRIBE are: snapshot, progress");
            }
        }
        if (asOf.isEmpty()) {
            asOf = asOf();
        }
        return new Syntax.Subscribe(relation, query, snapshot, progress, asOf);
    }

    private Optional<SqlNode> asOf() {
        return words.acceptAll("as", "of") ? Optional.of(words.expression()) : Optional.empty();
    }

    Syntax declare() {
        words.expect("declare");
        String name = words.name();
        while (words.accept("binary")
                || words.accept("insensitive")
                || words.accept("asensitive")
                || words.accept("no")
                || words.accept("scroll")) {}
        words.expect("cursor");
        if (words.accept("with") || words.accept("without")) {
            words.expect("hold");
        }
        words.expect("for");
        Syntax source = statements.statement();
        if (!(source instanceof Syntax.Select || source instanceof Syntax.Subscribe)) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "a cursor is for SELECT or SUBSCRIBE");
        }
        return new Syntax.DeclareCursor(name, source);
    }

    Syntax fetch() {
        words.expect("fetch");
        if (!words.accept("forward")) {
            words.accept("next");
        }
        var count = StatementParser.count(words);
        if (!words.accept("from")) {
            words.accept("in");
        }
        return new Syntax.Complete(new Statement.Fetch(words.name(), count));
    }

    Syntax close() {
        words.expect("close");
        return new Syntax.Complete(
                new Statement.CloseCursor(words.accept("all") ? Optional.empty() : Optional.of(words.name())));
    }

    // ---- COPY ------------------------------------------------------------------------------------------------------

    Syntax copy() {
        words.expect("copy");
        if (words.acceptSymbol("(")) {
            Syntax source = statements.statement();
            words.expectSymbol(")");
            words.expect("to");
            return new Syntax.CopyTo(source, file("stdout"), copyOptions());
        }
        SqlIdentifier relation = words.identifier();
        List<SqlIdentifier> columns = words.optionalColumns();
        if (words.accept("from")) {
            return new Syntax.CopyFrom(relation, columns, file("stdin"), copyOptions());
        }
        if (!words.accept("to")) {
            throw words.expected(List.of("from", "to"));
        }
        return new Syntax.CopyTo(new Syntax.Select(selectOf(relation, columns)), file("stdout"), copyOptions());
    }

    private static Syntax.QueryText selectOf(SqlIdentifier relation, List<SqlIdentifier> columns) {
        if (columns.isEmpty()) {
            return StatementParser.allOf(relation);
        }
        var position = relation.getParserPosition();
        SqlNode select = new SqlSelect(
                position,
                null,
                new SqlNodeList(columns, position),
                relation,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
        return new Syntax.QueryText(select, new Emit.Unspecified(), "");
    }

    private Optional<String> file(String standard) {
        if (words.accept(standard)) {
            return Optional.empty();
        }
        if (words.peek().kind() != Kind.STRING) {
            throw words.expected(List.of(standard));
        }
        return Optional.of(words.string());
    }

    /** {@code [WITH] (FORMAT csv, HEADER)} or the older {@code [WITH] CSV HEADER DELIMITER ','}. */
    private Map<String, String> copyOptions() {
        words.accept("with");
        if (words.peek().isSymbol("(")) {
            return words.options();
        }
        Map<String, String> options = new HashMap<>();
        while (true) {
            if (words.accept("csv")) {
                options.put("format", "csv");
            } else if (words.accept("header")) {
                options.put("header", "true");
            } else if (words.peek().isWord("delimiter")
                    || words.peek().isWord("null")
                    || words.peek().isWord("quote")
                    || words.peek().isWord("escape")) {
                String name = words.next().text();
                words.accept("as");
                options.put(name, words.string());
            } else {
                return options;
            }
        }
    }

    // ---- INSERT, UPDATE, DELETE ------------------------------------------------------------------------------------

    Syntax insert() {
        words.expect("insert");
        words.expect("into");
        SqlIdentifier relation = words.identifier();
        List<SqlIdentifier> columns = words.optionalColumns();
        SqlNode source = words.query();
        OnConflict onConflict = words.acceptAll("on", "conflict") ? onConflict() : OnConflict.FAIL;
        Optional<List<SqlIdentifier>> returning = Optional.empty();
        if (words.accept("returning")) {
            List<SqlIdentifier> names = new ArrayList<>();
            if (!words.acceptSymbol("*")) {
                do {
                    names.add(words.simpleIdentifier());
                } while (words.acceptSymbol(","));
            }
            returning = Optional.of(names);
        }
        return new Syntax.Insert(relation, columns, source, onConflict, returning);
    }

    private OnConflict onConflict() {
        words.optionalColumns();
        words.expect("do");
        if (words.accept("nothing")) {
            return OnConflict.DO_NOTHING;
        }
        words.expect("update");
        words.expect("set");
        do {
            int position = words.peek().start() + 1;
            String column = words.name();
            words.expectSymbol("=");
            if (!words.acceptAll("excluded")
                    || !words.acceptSymbol(".")
                    || !words.name().equals(column)) {
                throw MillraceException.notAvailableYet("ON CONFLICT DO UPDATE with other values than EXCLUDED's")
                        .at(position);
            }
        } while (words.acceptSymbol(","));
        return OnConflict.REPLACE;
    }

    Syntax update() {
        words.expect("update");
        SqlIdentifier relation = words.identifier();
        Optional<SqlIdentifier> alias = alias("set");
        words.expect("set");
        List<Syntax.Assignment> assignments = new ArrayList<>();
        do {
            SqlIdentifier column = words.simpleIdentifier();
            words.expectSymbol("=");
            assignments.add(new Syntax.Assignment(column, words.expression()));
        } while (words.acceptSymbol(","));
        return new Syntax.Update(relation, alias, assignments, where());
    }

    Syntax delete() {
        words.expect("delete");
        words.expect("from");
        SqlIdentifier relation = words.identifier();
        Optional<SqlIdentifier> alias = alias("where");
        return new Syntax.Delete(relation, alias, where());
    }

    private Optional<SqlIdentifier> alias(String following) {
        if (words.accept("as") || words.peek().isName() && !words.peek().isWord(following)) {
            return Optional.of(words.simpleIdentifier());
        }
        return Optional.empty();
    }

    private Optional<SqlNode> where() {
        Optional<SqlNode> condition = words.accept("where") ? Optional.of(words.expression()) : Optional.empty();
        if (words.peek().isWord("returning")
                || words.peek().isWord("from")
                || words.peek().isWord("using")) {
            throw MillraceException.notAvailableYet(
                            words.peek().text().toUpperCase(Locale.ROOT) + " of UPDATE and DELETE")
                    .at(words.peek().start() + 1);
        }
        return condition;
    }

    Syntax truncate() {
        words.expect("truncate");
        words.accept("table");
        return new Syntax.Truncate(words.identifier());
    }
}
