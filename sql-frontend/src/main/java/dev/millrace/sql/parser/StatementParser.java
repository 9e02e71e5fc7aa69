package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ExplainForm;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.Listing;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Reads the statements of a text, separated by semicolons. One method per statement; definitions of relations are in
 * {@link DefinitionParser}, rows and cursors in {@link RowsParser}. One thread, one text.
 */
public final class StatementParser {
    /**
     * A parsed statement.
     *
     * @param start of its text in the whole, in characters from 0
     * @param end after its last character
     * @param parameterCount the highest {@code $n}
     */
    public record Parsed(Syntax syntax, int start, int end, int parameterCount) {}

    private static final List<String> LISTINGS =
            List.of("streams", "tables", "continuous", "materialized", "sinks", "templates", "functions", "workers");

    private final Words words;
    private final DefinitionParser definitions;
    private final RowsParser rows;

    private StatementParser(String sql) {
        this.words = new Words(sql, Lexer.tokens(sql));
        this.definitions = new DefinitionParser(words);
        this.rows = new RowsParser(words, this);
    }

    /** All statements; fails at the first syntax error. */
    public static List<Parsed> parse(String sql) {
        return new StatementParser(sql).parseAll();
    }

    private List<Parsed> parseAll() {
        List<Parsed> statements = new ArrayList<>();
        while (true) {
            while (words.acceptSymbol(";")) {}
            if (words.atEnd()) {
                return statements;
            }
            int first = words.place();
            Syntax syntax = statement();
            if (!words.atEnd() && !words.peek().isSymbol(";")) {
                throw words.leftOver();
            }
            statements.add(new Parsed(
                    syntax, words.startOf(first), words.endBefore(words.place()), words.highestParameter(first)));
        }
    }

    /** One statement, up to what cannot belong to it. */
    Syntax statement() {
        Lexeme head = words.peek();
        if (head.isSymbol("(")) {
            return rows.select();
        }
        if (head.kind() != Kind.WORD) {
            throw words.syntaxError();
        }
        return switch (head.text()) {
            case "select", "values", "with", "table" -> rows.select();
            case "create" -> definitions.create();
            case "drop" -> drop();
            case "pause", "resume" -> pauseOrResume();
            case "alter" -> definitions.alter();
            case "reprocess" -> reprocess();
            case "insert" -> rows.insert();
            case "update" -> rows.update();
            case "delete" -> rows.delete();
            case "truncate" -> rows.truncate();
            case "copy" -> rows.copy();
            case "subscribe" -> rows.subscribe();
            case "declare" -> rows.declare();
            case "fetch" -> rows.fetch();
            case "close" -> rows.close();
            case "flush" -> {
                words.next();
                yield new Syntax.Complete(new Statement.Flush());
            }
            case "show" -> show();
            case "describe", "desc" -> describe();
            case "explain" -> explain();
            case "set" -> set();
            case "reset" -> reset();
            case "begin", "start", "commit", "end", "rollback", "abort" -> transaction();
            case "discard", "deallocate" -> discard();
            default ->
                throw Suggestion.nearest(head.text(), Keywords.STATEMENTS)
                        .map(nearest -> words.syntaxError()
                                .withHint("did you mean \"" + nearest.toUpperCase(Locale.ROOT) + "\"?"))
                        .orElseGet(words::syntaxError);
        };
    }

    // ---- objects ---------------------------------------------------------------------------------------------------

    private Syntax drop() {
        words.expect("drop");
        ObjectKind kind = words.objectKind();
        boolean ifExists = words.accept("if");
        if (ifExists) {
            words.expect("exists");
        }
        List<String> names = new ArrayList<>();
        do {
            names.add(words.relationName());
            words.skipParentheses();
        } while (words.acceptSymbol(","));
        boolean cascade = words.accept("cascade");
        if (!cascade) {
            words.accept("restrict");
        }
        return new Syntax.Complete(new Statement.Drop(kind, names, ifExists, cascade));
    }

    private Syntax pauseOrResume() {
        boolean pause = words.next().isWord("pause");
        ObjectKind kind = words.objectKind();
        boolean ifExists = words.accept("if");
        if (ifExists) {
            words.expect("exists");
        }
        String name = words.relationName();
        return new Syntax.Complete(
                pause ? new Statement.Pause(kind, name, ifExists) : new Statement.Resume(kind, name, ifExists));
    }

    private Syntax reprocess() {
        words.expect("reprocess");
        words.expect("continuous");
        words.expect("query");
        String name = words.relationName();
        words.expect("from");
        SqlNode from = words.expression();
        Optional<SqlNode> to = words.accept("to") ? Optional.of(words.expression()) : Optional.empty();
        return new Syntax.Reprocess(name, from, to);
    }

    // ---- questions -------------------------------------------------------------------------------------------------

    private Syntax show() {
        words.expect("show");
        if (words.accept("create")) {
            Optional<ObjectKind> kind = words.peekAt(1).isName() ? Optional.of(words.objectKind()) : Optional.empty();
            return new Syntax.Complete(new Statement.ShowCreate(kind, words.relationName()));
        }
        if (words.accept("all")) {
            return new Syntax.Complete(new Statement.ShowSetting(Optional.empty()));
        }
        if (words.peek().isWord("transaction") && words.peekAt(1).isWord("isolation")) {
            words.next();
            words.next();
            words.expect("level");
            return new Syntax.Complete(new Statement.ShowSetting(Optional.of("transaction_isolation")));
        }
        if (words.peek().isWord("time") && words.peekAt(1).isWord("zone")) {
            words.next();
            words.next();
            return new Syntax.Complete(new Statement.ShowSetting(Optional.of("timezone")));
        }
        Optional<Listing> listing = listing();
        if (listing.isPresent()) {
            return new Syntax.Complete(new Statement.Show(listing.get()));
        }
        // A setting, unless it looks like a list whose name is nearly right.
        if (Suggestion.nearest(words.peek().text(), LISTINGS).isPresent()) {
            throw words.expected(LISTINGS);
        }
        return new Syntax.Complete(new Statement.ShowSetting(Optional.of(words.settingName())));
    }

    private Optional<Listing> listing() {
        for (Listing listing : Listing.values()) {
            if (words.acceptAll(listing.name().toLowerCase(Locale.ROOT).split("_"))) {
                return Optional.of(listing);
            }
        }
        return words.acceptAll("query", "templates") ? Optional.of(Listing.TEMPLATES) : Optional.empty();
    }

    private Syntax describe() {
        words.next();
        if (words.peekAt(1).isName()) {
            words.objectKind();
        }
        return new Syntax.Describe(words.identifier());
    }

    private Syntax explain() {
        words.expect("explain");
        if (words.accept("analyze")) {
            if (words.peek().isWord("continuous") || words.peek().isWord("materialized")) {
                ObjectKind kind = words.objectKind();
                return new Syntax.Complete(new Statement.ExplainRunning(kind, words.relationName()));
            }
            return new Syntax.ExplainAnalyze(statement());
        }
        Set<ExplainForm> forms = EnumSet.noneOf(ExplainForm.class);
        if (words.peek().isSymbol("(")
                && !words.peekAt(1).isSymbol("(")
                && !words.peekAt(1).isWord("select")) {
            words.next();
            do {
                forms.add(words.oneOf(ExplainForm.class, "explain option"));
            } while (words.acceptSymbol(","));
            words.expectSymbol(")");
        } else {
            for (ExplainForm form : ExplainForm.values()) {
                if (words.accept(form.name().toLowerCase(Locale.ROOT))) {
                    forms.add(form);
                }
            }
        }
        return new Syntax.Explain(forms, statement());
    }

    // ---- session ---------------------------------------------------------------------------------------------------

    private Syntax set() {
        words.expect("set");
        boolean local = words.accept("local");
        if (!local) {
            words.accept("session");
        }
        if (words.peek().isWord("transaction") || words.peek().isWord("characteristics")) {
            String value = words.restOfStatement();
            return new Syntax.Complete(new Statement.SetSetting("transaction", Optional.of(value), local));
        }
        String name = words.acceptAll("time", "zone") ? "timezone" : words.settingName();
        if (!words.acceptSymbol("=") && !words.accept("to") && !name.equals("timezone")) {
            throw words.syntaxError();
        }
        if (words.accept("default")) {
            return new Syntax.Complete(new Statement.SetSetting(name, Optional.empty(), local));
        }
        List<String> values = new ArrayList<>();
        do {
            values.add(words.optionValue());
        } while (words.acceptSymbol(","));
        return new Syntax.Complete(new Statement.SetSetting(name, Optional.of(String.join(", ", values)), local));
    }

    private Syntax reset() {
        words.expect("reset");
        Optional<String> name = words.accept("all") ? Optional.empty() : Optional.of(words.settingName());
        return new Syntax.Complete(new Statement.ResetSetting(name));
    }

    private Syntax transaction() {
        String head = words.next().text();
        if (head.equals("start")) {
            words.expect("transaction");
        } else if (!words.accept("work")) {
            words.accept("transaction");
        }
        if (head.equals("begin") || head.equals("start")) {
            words.restOfStatement(); // isolation level and the like: there is one kind
            return new Syntax.Complete(new Statement.Begin());
        }
        return new Syntax.Complete(
                head.equals("commit") || head.equals("end") ? new Statement.Commit() : new Statement.Rollback());
    }

    private Syntax discard() {
        boolean deallocate = words.next().isWord("deallocate");
        if (deallocate) {
            words.accept("prepare");
        }
        Optional<String> name = words.accept("all") ? Optional.empty() : Optional.of(words.name());
        return new Syntax.Complete(new Statement.Discard(deallocate ? name : Optional.empty()));
    }

    // ---- shared by the parts ---------------------------------------------------------------------------------------

    /** A query with its EMIT clause. */
    /** The expression that a text is. */
    public static SqlNode parseExpression(String text) {
        return new Words(text, Lexer.tokens(text)).expression();
    }

    static Syntax.QueryText queryText(Words words) {
        int first = words.place();
        SqlNode query = words.query();
        Emit emit = emit(words);
        return new Syntax.QueryText(query, emit, words.textFrom(first));
    }

    private static Emit emit(Words words) {
        if (!words.accept("emit")) {
            return new Emit.Unspecified();
        }
        if (words.accept("on")) {
            words.expect("window");
            words.expect("close");
            return new Emit.OnWindowClose();
        }
        if (words.accept("changes")) {
            return new Emit.Changes();
        }
        words.expect("every");
        return new Emit.Every(duration(words));
    }

    /** {@code [INTERVAL] '1 second'} or {@code INTERVAL '1' SECOND}, in microseconds. */
    private static long duration(Words words) {
        words.accept("interval");
        Lexeme text = words.peek();
        if (text.kind() != Kind.STRING) {
            throw words.syntaxError();
        }
        words.next();
        String unit = words.peek().kind() == Kind.WORD ? " " + words.next().text() : "";
        try {
            Object value = Literals.parse(DataType.INTERVAL, text.text() + unit).value();
            long micros = Literals.durationMicros((IntervalValue) value);
            if (micros <= 0) {
                throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "the period must be greater than zero");
            }
            return micros;
        } catch (MillraceException e) {
            throw e.at(text.start() + 1);
        }
    }

    /** A relation whose rows are to be read: as identifier, and as the query TABLE name. */
    static Syntax.QueryText allOf(SqlIdentifier relation) {
        SqlNode query = SqlStdOperatorTable.EXPLICIT_TABLE.createCall(relation.getParserPosition(), relation);
        return new Syntax.QueryText(query, new Emit.Unspecified(), "TABLE " + relation);
    }

    static IfExists ifNotExists(Words words, boolean replace) {
        if (words.accept("if")) {
            words.expect("not");
            words.expect("exists");
            return IfExists.SKIP;
        }
        return replace ? IfExists.REPLACE : IfExists.FAIL;
    }

    /** A count of FETCH: a number, ALL, or one. */
    static OptionalLong count(Words words) {
        if (words.accept("all")) {
            return OptionalLong.empty();
        }
        if (words.peek().kind() != Kind.INTEGER) {
            return OptionalLong.of(1);
        }
        Lexeme number = words.next();
        try {
            return OptionalLong.of(Long.parseLong(number.text()));
        } catch (NumberFormatException e) {
            throw MillraceException.user(
                            SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "a count of " + number.text() + " is out of range")
                    .at(number.start() + 1);
        }
    }
}
