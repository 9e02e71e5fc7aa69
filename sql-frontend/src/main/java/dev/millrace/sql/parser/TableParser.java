package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableConflict;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** CREATE STREAM and TABLE: columns and what must hold of them. */
final class TableParser {
    private static final Map<String, String> SERIAL = Map.of(
            "serial", "integer",
            "serial4", "integer",
            "bigserial", "bigint",
            "serial8", "bigint",
            "smallserial", "smallint",
            "serial2", "smallint");

    /** What gives the next number of a column that has them. */
    private static final String NEXT_NUMBER =
            "(?i)nextval\\s*\\(\\s*'(?:public\\.)?\"?([^'\"]*)\"?'(?:\\s*::\\s*regclass)?\\s*\\)";

    private final Words words;

    /** The table that is made, whose columns' numbers are known by its name. */
    private Optional<String> numbers = Optional.empty();

    private final List<Syntax.Column> columns = new ArrayList<>();
    private final List<SqlIdentifier> primaryKey = new ArrayList<>();
    private final List<Syntax.WatermarkClause> watermarks = new ArrayList<>();
    private final List<Syntax.CheckClause> checks = new ArrayList<>();
    private final List<Syntax.UniqueClause> uniques = new ArrayList<>();
    private final List<ForeignKey> foreignKeys = new ArrayList<>();

    TableParser(Words words) {
        this.words = words;
    }

    /** @param unlogged whether PostgreSQL would not log its rows, which has no effect */
    Syntax relation(ObjectKind kind, String name, IfExists ifExists, boolean unlogged) {
        numbers = Optional.of(name);
        int start = words.place();
        if (kind == ObjectKind.STREAM) {
            Optional<Syntax> ofQuery = streamAs(name, ifExists);
            if (ofQuery.isPresent()) {
                return ofQuery.get();
            }
            words.backTo(start);
        }
        List<SqlIdentifier> names = words.optionalColumns();
        Map<String, String> storage = new LinkedHashMap<>(words.optionalOptions());
        boolean temporary = RelationNames.isTemporary(name);
        if (temporary) {
            words.acceptAll("on", "commit", "preserve", "rows"); // what they do anyway
        }
        if (unlogged) {
            storage.put("unlogged", "true");
        }
        if (words.peek().isWord("as")) {
            return createAs(name, ifExists, names, storage);
        }
        words.backTo(start);
        if (words.acceptSymbol("(")) {
            do {
                element();
            } while (words.acceptComma());
            words.expectSymbol(")");
        }
        Map<String, String> included = kind == ObjectKind.STREAM ? included() : Map.of();
        boolean appendOnly = kind == ObjectKind.TABLE && words.acceptAll("append", "only");
        Optional<Syntax.ConflictClause> conflict = kind == ObjectKind.TABLE ? conflict() : Optional.empty();
        Map<String, String> options = new LinkedHashMap<>(words.optionalOptions());
        if (appendOnly) {
            options.put("append_only", "true");
        }
        if (kind == ObjectKind.STREAM && words.acceptAll("format", "plain", "encode")) {
            encoding(options);
        }
        words.acceptAll("without", "oids"); // as all are
        if (temporary) {
            words.acceptAll("on", "commit", "preserve", "rows");
        }
        if (unlogged) {
            options.put("unlogged", "true");
        }
        included.forEach((option, column) -> {
            if (options.putIfAbsent(option, column) != null) {
                throw MillraceException.user(
                        SqlState.SYNTAX_ERROR, "option \"" + option + "\" is given twice, once by INCLUDE");
            }
        });
        return new Syntax.CreateRelation(
                kind,
                name,
                ifExists,
                columns,
                primaryKey,
                checks,
                uniques,
                foreignKeys,
                conflict,
                watermarks.stream().findFirst(),
                options);
    }

    /** RisingWave's {@code ON CONFLICT} of a table. */
    private Optional<Syntax.ConflictClause> conflict() {
        if (!words.acceptAll("on", "conflict")) {
            return Optional.empty();
        }
        TableConflict.Action action = TableConflict.Action.OVERWRITE;
        if (words.acceptAll("do", "nothing")) {
            action = TableConflict.Action.NOTHING;
        } else if (words.acceptAll("do", "update", "if")) {
            words.expect("not");
            words.expect("null");
            action = TableConflict.Action.UPDATE_NOT_NULL;
        } else if (!words.acceptAll("do", "update", "full")) {
            words.expect("overwrite");
        }
        List<SqlIdentifier> versions = List.of();
        if (words.acceptAll("with", "version", "column")) {
            versions = words.optionalColumns();
            if (versions.isEmpty()) {
                throw words.unexpected();
            }
        }
        return Optional.of(new Syntax.ConflictClause(action, versions));
    }

    /** RisingWave's {@code FORMAT PLAIN ENCODE JSON (..)} behind the options, with it read up to the name of the format. */
    private void encoding(Map<String, String> options) {
        String format = words.name();
        boolean makesRows = options.getOrDefault("connector", "").equals("datagen"); // and has no records to read
        if (!makesRows && options.putIfAbsent("format", format) != null) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "option \"format\" is given twice, once by ENCODE");
        }
        if (words.peek().isSymbol("(")) {
            words.options().forEach(options::putIfAbsent);
        }
    }

    /** INCLUDE OFFSET AS o, ..: options such as {@code include.offset} with names of columns, as connectors know them. */
    private Map<String, String> included() {
        Map<String, String> included = new LinkedHashMap<>();
        while (words.accept("include")) {
            do {
                if (words.peek().kind() != Lexeme.Kind.WORD) {
                    throw words.unexpected();
                }
                Lexeme what = words.next();
                StringBuilder option = new StringBuilder("include.").append(what.text());
                while (!words.peek().isWord("as") && words.peek().kind() == Lexeme.Kind.WORD) {
                    option.append('_').append(words.next().text());
                }
                words.expect("as");
                String column = words.simpleIdentifier().getSimple();
                if (included.putIfAbsent(option.toString(), column) != null) {
                    throw MillraceException.user(
                                    SqlState.SYNTAX_ERROR,
                                    "INCLUDE " + what.text().toUpperCase(Locale.ROOT) + " is given twice")
                            .at(what.start() + 1);
                }
            } while (words.acceptComma());
        }
        return included;
    }

    /**
     * {@code [(a, b, WATERMARK FOR b AS b)] [WITH (..)] AS query [WITH (..)]}: columns have names alone, as the query has their types.
     *
     * @return empty if it is another stream; then words were read
     */
    private Optional<Syntax> streamAs(String name, IfExists ifExists) {
        List<SqlIdentifier> names = new ArrayList<>();
        if (words.acceptSymbol("(")) {
            do {
                if (words.peek().isWord("watermark") && words.peekAt(1).isWord("for")) {
                    element();
                } else if (words.peek().isName()
                        && (words.peekAt(1).isSymbol(",") || words.peekAt(1).isSymbol(")"))) {
                    names.add(words.simpleIdentifier());
                } else {
                    watermarks.clear();
                    return Optional.empty();
                }
            } while (words.acceptComma());
            if (!words.acceptSymbol(")")) {
                watermarks.clear();
                return Optional.empty();
            }
        }
        Map<String, String> options = new LinkedHashMap<>(words.optionalOptions());
        if (!words.accept("as")) {
            watermarks.clear();
            return Optional.empty();
        }
        Syntax.QueryText query = StatementParser.queryText(words, names);
        words.moreOptions(options);
        return Optional.of(new Syntax.CreateStreamAs(
                name, ifExists, query, watermarks.stream().findFirst(), options));
    }

    private Syntax createAs(String name, IfExists ifExists, List<SqlIdentifier> names, Map<String, String> options) {
        words.expect("as");
        Syntax.QueryText query = StatementParser.queryText(words);
        boolean empty = words.acceptAll("with", "no", "data");
        if (!empty) {
            words.acceptAll("with", "data");
        }
        return new Syntax.CreateTableAs(name, ifExists, names, query, !empty, options);
    }

    /** A column, constraint or watermark. */
    void element() {
        int start = words.peek().start() + 1;
        if (words.acceptAll("watermark", "for")) {
            if (!watermarks.isEmpty()) {
                throw MillraceException.user(
                                SqlState.INVALID_TABLE_DEFINITION, "a relation has at most one WATERMARK clause")
                        .at(start);
            }
            SqlIdentifier column = words.simpleIdentifier();
            words.expect("as");
            watermarks.add(new Syntax.WatermarkClause(column, words.expression()));
            return;
        }
        Optional<String> name = constraintName();
        if (words.acceptAll("primary", "key")) {
            rejectSecondKey(start);
            primaryKey.addAll(words.optionalColumns());
            if (primaryKey.isEmpty()) {
                throw words.syntaxError();
            }
        } else if (words.peek().isWord("check")) {
            check(name, Optional.empty());
        } else if (words.peek().isWord("unique")
                && (words.peekAt(1).isSymbol("(") || words.peekAt(1).isWord("nulls"))) {
            words.next();
            refuseEqualNulls();
            uniques.add(new Syntax.UniqueClause(name, words.optionalColumns()));
        } else if (words.peek().isWord("foreign") && words.peekAt(1).isWord("key")) {
            foreignKeys.add(new ForeignKeyParser(words).ofTable(name));
        } else if (words.peek().isWord("exclude")
                        && (words.peekAt(1).isSymbol("(") || words.peekAt(1).isWord("using"))
                || words.peek().isWord("like")) {
            throw refused(words.peek(), " of a table");
        } else {
            column();
            return;
        }
        while (acceptImmediate()) {}
    }

    /** The foreign keys that were read. */
    List<ForeignKey> foreignKeys() {
        return foreignKeys;
    }

    /** What says of a constraint that it is as most are: checked at once. */
    private boolean acceptImmediate() {
        return words.acceptAll("not", "deferrable") || words.acceptAll("initially", "immediate");
    }

    private Optional<String> constraintName() {
        boolean named = words.peek().isWord("constraint") && words.peekAt(1).isName();
        if (!named) {
            return Optional.empty();
        }
        words.next();
        return Optional.of(words.name());
    }

    private void column() {
        SqlIdentifier name = words.simpleIdentifier();
        Lexeme typeWord = words.peek();
        boolean serial = typeWord.kind() == Lexeme.Kind.WORD && SERIAL.containsKey(typeWord.text());
        TypeSpec type = serial ? serialType() : words.type();
        Optional<Syntax.RuleClause> rule = serial
                ? Optional.of(new Syntax.RuleClause(ColumnRule.Kind.SERIAL, Optional.empty(), "", typeWord.start() + 1))
                : Optional.empty();
        boolean notNull = serial;
        while (true) {
            Optional<String> constraint = constraintName();
            Lexeme word = words.peek();
            if (words.acceptAll("not", "null")) {
                notNull = true;
            } else if (words.acceptAll("primary", "key")) {
                rejectSecondKey(word.start() + 1);
                primaryKey.add(name);
                notNull = true;
            } else if (word.isWord("default") || word.isWord("generated") || word.isWord("as")) {
                if (rule.isPresent()) {
                    throw MillraceException.user(
                                    SqlState.SYNTAX_ERROR,
                                    "multiple default values specified for column \"" + name.getSimple() + "\"")
                            .at(word.start() + 1);
                }
                rule = Optional.of(word.isWord("default") ? byDefault(name.getSimple()) : generated(word));
                notNull |= rule.get().kind() == ColumnRule.Kind.IDENTITY
                        || rule.get().kind() == ColumnRule.Kind.IDENTITY_ALWAYS;
            } else if (word.isWord("check")) {
                check(constraint, Optional.of(name.getSimple()));
            } else if (words.accept("unique")) {
                refuseEqualNulls();
                uniques.add(new Syntax.UniqueClause(constraint, List.of(name)));
            } else if (word.isWord("references")) {
                foreignKeys.add(new ForeignKeyParser(words).references(constraint, List.of(name.getSimple())));
            } else if (!words.accept("null") && !acceptImmediate()) {
                break;
            }
        }
        columns.add(new Syntax.Column(name, type, notNull, rule));
    }

    private TypeSpec serialType() {
        String whole = Objects.requireNonNull(SERIAL.get(words.next().text()));
        return new Words(whole, Lexer.tokens(whole)).type();
    }

    private Syntax.RuleClause byDefault(String column) {
        int start = words.next().end();
        int first = words.place();
        SqlNode expression = words.expression();
        String text = words.textFrom(first);
        boolean uuid =
                text.replaceAll("\\s", "").toLowerCase(Locale.ROOT).matches("(gen_random_uuid|uuid_generate_v4)\\(\\)");
        boolean numbered = numbers.isPresent()
                && text.matches(NEXT_NUMBER)
                && text.replaceFirst(NEXT_NUMBER, "$1").equals(numbers.get() + "_" + column + "_seq");
        if (numbered) { // as pg_dump writes a SERIAL column
            return new Syntax.RuleClause(ColumnRule.Kind.SERIAL, Optional.empty(), "", start + 1);
        }
        ColumnRule.Kind kind = uuid ? ColumnRule.Kind.UUID : ColumnRule.Kind.DEFAULT;
        return new Syntax.RuleClause(kind, Optional.of(expression), text, start + 1);
    }

    /** GENERATED .. AS, or {@code AS expression} alone as RisingWave and Flink have it. */
    private Syntax.RuleClause generated(Lexeme word) {
        int start = words.next().start() + 1;
        if (word.isWord("as")) {
            int first = words.place();
            SqlNode expression = words.expression();
            return new Syntax.RuleClause(
                    ColumnRule.Kind.GENERATED, Optional.of(expression), words.textFrom(first), start);
        }
        boolean always = words.accept("always");
        if (!always) {
            words.expect("by");
            words.expect("default");
        }
        words.expect("as");
        if (words.accept("identity")) {
            if (words.peek().isSymbol("(")) {
                throw MillraceException.notAvailableYet("options of a sequence")
                        .at(words.peek().start() + 1)
                        .withHint("numbers begin with 1, each one more than the last");
            }
            ColumnRule.Kind kind = always ? ColumnRule.Kind.IDENTITY_ALWAYS : ColumnRule.Kind.IDENTITY;
            return new Syntax.RuleClause(kind, Optional.empty(), "", start);
        }
        words.expectSymbol("(");
        int first = words.place();
        SqlNode expression = words.expression();
        String text = words.textFrom(first);
        words.expectSymbol(")");
        if (!words.accept("stored")) {
            throw words.expected(List.of("stored"));
        }
        return new Syntax.RuleClause(ColumnRule.Kind.GENERATED, Optional.of(expression), text, start);
    }

    private void check(Optional<String> name, Optional<String> column) {
        words.expect("check");
        words.expectSymbol("(");
        int first = words.place();
        SqlNode expression = words.expression();
        String text = words.textFrom(first);
        words.expectSymbol(")");
        words.acceptAll("no", "inherit");
        checks.add(new Syntax.CheckClause(name, column, expression, text));
    }

    private static MillraceException refused(Lexeme word, String where) {
        String hint = switch (word.text()) {
            case "exclude" ->
                "UNIQUE holds of equal values; a materialized view shows rows that should not be together";
            default -> "CREATE TABLE .. AS SELECT * FROM other WITH NO DATA has the same columns";
        };
        return MillraceException.notAvailableYet(word.text().toUpperCase(Locale.ROOT) + where)
                .at(word.start() + 1)
                .withHint(hint);
    }

    private void refuseEqualNulls() {
        Lexeme word = words.peek();
        if (words.acceptAll("nulls", "not", "distinct")) {
            throw MillraceException.notAvailableYet("NULLS NOT DISTINCT")
                    .at(word.start() + 1)
                    .withHint("NOT NULL columns have no such question");
        }
        words.acceptAll("nulls", "distinct");
    }

    private void rejectSecondKey(int position) {
        if (!primaryKey.isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_TABLE_DEFINITION, "a table has at most one primary key")
                    .at(position);
        }
    }
}
