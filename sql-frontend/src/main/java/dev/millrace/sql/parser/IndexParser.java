package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.IndexStatement.Column;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** CREATE INDEX, ALTER INDEX and REINDEX, in PostgreSQL's words. */
final class IndexParser {
    private static final int MOST_COLUMNS = 32;
    private static final Set<String> OTHER_METHODS = Set.of("gin", "gist", "spgist", "brin", "bloom");

    private final Words words;

    IndexParser(Words words) {
        this.words = words;
    }

    /** Whether an index is what is created, behind CREATE. */
    boolean isNext() {
        return words.peek().isWord("index")
                || words.peek().isWord("unique") && words.peekAt(1).isWord("index");
    }

    Syntax create() {
        boolean unique = words.accept("unique");
        words.expect("index");
        words.accept("concurrently"); // writers go on anyway
        boolean ifNotExists = words.acceptAll("if", "not", "exists");
        Optional<String> name = Optional.empty();
        if (ifNotExists || !words.peek().isWord("on")) {
            name = Optional.of(words.name());
        }
        words.expect("on");
        words.accept("only");
        String relation = words.relationName();
        String method = "btree";
        if (words.accept("using")) {
            Lexeme word = words.peek();
            method = words.name();
            requireMethod(method, word);
        }
        Lexeme parenthesis = words.peek();
        words.expectSymbol("(");
        List<Column> columns = new ArrayList<>();
        do {
            columns.add(column(method));
        } while (words.acceptComma());
        words.expectSymbol(")");
        if (columns.size() > MOST_COLUMNS) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "cannot use more than " + MOST_COLUMNS + " columns in an index")
                    .at(parenthesis.start() + 1);
        }
        Set<String> names = new HashSet<>();
        columns.removeIf(column -> !names.add(column.name())); // once more says nothing more
        if (method.equals("hash") && (unique || columns.size() > 1)) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "access method \"hash\" does not support "
                                    + (unique ? "unique indexes" : "multicolumn indexes"))
                    .at(parenthesis.start() + 1)
                    .withHint("USING btree does");
        }
        List<String> beside = new ArrayList<>(words.accept("include") ? names() : List.of());
        if (words.acceptAll("distributed", "by")) { // RisingWave's
            beside.addAll(names());
        }
        refuseRest();
        return new Syntax.Complete(
                new IndexStatement.CreateIndex(name, relation, method, unique, columns, beside, ifNotExists));
    }

    private List<String> names() {
        words.expectSymbol("(");
        List<String> names = new ArrayList<>();
        do {
            names.add(words.simpleIdentifier().getSimple());
        } while (words.acceptComma());
        words.expectSymbol(")");
        return names;
    }

    private static void requireMethod(String method, Lexeme word) {
        if (method.equals("btree") || method.equals("hash")) {
            return;
        }
        if (OTHER_METHODS.contains(method)) {
            throw MillraceException.notAvailableYet("access method \"" + method + "\"")
                    .at(word.start() + 1)
                    .withHint("USING btree serves equality, ranges and ORDER BY");
        }
        throw MillraceException.user(SqlState.UNDEFINED_OBJECT, "access method \"" + method + "\" does not exist")
                .at(word.start() + 1)
                .withHint("btree and hash do");
    }

    private Column column(String method) {
        Lexeme start = words.peek();
        boolean column = start.isName() && !words.peekAt(1).isSymbol("(");
        if (!column) {
            throw MillraceException.notAvailableYet("an index on an expression")
                    .at(start.start() + 1)
                    .withHint("a materialized view, or a GENERATED column of the table, can have the expression as a"
                            + " column, and an index on that");
        }
        String name = words.simpleIdentifier().getSimple();
        if (words.accept("collate")) {
            Lexeme word = words.peek();
            List<String> names = words.identifier().names;
            String collation = names.get(names.size() - 1);
            if (!Set.of("C", "POSIX", "default", "ucs_basic").contains(collation)) {
                throw MillraceException.notAvailableYet("collation \"" + collation + "\"")
                        .at(word.start() + 1)
                        .withHint("texts are ordered by their bytes, as COLLATE \"C\" has them");
            }
        }
        if (words.peek().kind() == Lexeme.Kind.WORD && words.peek().text().endsWith("_ops")) {
            words.next(); // all classes of operators order a type as its one order here
        }
        boolean descending = words.accept("desc");
        boolean said = descending || words.accept("asc");
        boolean nullsFirst = descending;
        if (words.accept("nulls")) {
            said = true;
            nullsFirst = words.accept("first");
            if (!nullsFirst) {
                words.expect("last");
            }
        }
        if (said && method.equals("hash")) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "access method \"hash\" does not support ASC/DESC or NULLS FIRST/LAST options")
                    .at(start.start() + 1);
        }
        return new Column(name, descending, nullsFirst);
    }

    private void refuseRest() {
        Lexeme word = words.peek();
        if (word.isWord("where")) {
            throw MillraceException.notAvailableYet("an index of some rows (WHERE)")
                    .at(word.start() + 1)
                    .withHint("without WHERE it has all rows; a materialized view has some, and can have an index");
        }
        if (word.isWord("nulls") || word.isWord("tablespace")) {
            throw MillraceException.notAvailableYet(word.text().toUpperCase(Locale.ROOT) + " of an index")
                    .at(word.start() + 1)
                    .withHint("without it the index answers the same queries");
        }
        words.optionalOptions(); // how PostgreSQL fills its pages
    }

    /** Behind ALTER. */
    Syntax alter() {
        words.expect("index");
        boolean ifExists = words.acceptAll("if", "exists");
        String name = words.relationName();
        if (!words.acceptAll("rename", "to")) {
            throw MillraceException.notAvailableYet("ALTER INDEX but for RENAME TO")
                    .at(words.peek().start() + 1)
                    .withHint("DROP INDEX and CREATE INDEX");
        }
        return new Syntax.Complete(new IndexStatement.RenameIndex(name, ifExists, words.name()));
    }

    Syntax reindex() {
        words.expect("reindex");
        if (words.peek().isSymbol("(")) {
            words.skipParentheses();
        }
        if (words.peek().isWord("database")
                || words.peek().isWord("system")
                || words.peek().isWord("schema")) {
            boolean schema = words.next().isWord("schema");
            words.accept("concurrently");
            if (schema || !words.atStatementEnd()) {
                words.name();
            }
            return new Syntax.Complete(
                    new Statement.NoOperation("REINDEX", List.of(), Optional.of(IndexStatement.ALWAYS_CURRENT)));
        }
        boolean index = words.accept("index");
        if (!index && !words.accept("table")) {
            throw words.expected(List.of("index", "table", "schema", "database", "system"));
        }
        words.accept("concurrently");
        return new Syntax.Complete(new IndexStatement.Reindex(index, words.relationName()));
    }
}
