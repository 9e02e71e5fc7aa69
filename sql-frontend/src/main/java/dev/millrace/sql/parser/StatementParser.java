package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.Listing;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.PlainSelect;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Reads the statements of a text, separated by semicolons. One method per statement; definitions of relations are in
 * {@link DefinitionParser}, rows and cursors in {@link RowsParser}, changes of rows in {@link ChangeParser}. One thread, one
 * text.
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

    private static final Set<String> DESCRIBED = Set.of("select", "with", "from", "values");

    private static final List<String> LISTINGS = List.of(
            "streams",
            "tables",
            "continuous",
            "materialized",
            "views",
            "sinks",
            "templates",
            "functions",
            "indexes",
            "workers");

    private final Words words;
    private final DefinitionParser definitions;
    private final RowsParser rows;
    private final ChangeParser changes;
    private final SessionParser session;
    private final RoleParser roles;

    /** Where the statement under way begins; of one in another, the inner one. */
    private int start;

    private StatementParser(String sql) {
        this.words = new Words(sql, Lexer.tokens(sql));
        this.definitions = new DefinitionParser(words, this);
        this.rows = new RowsParser(words, this);
        this.changes = new ChangeParser(words);
        this.session = new SessionParser(words, Optional.of(this));
        this.roles = new RoleParser(words);
    }

    /** All statements; fails at the first syntax error. */
    public static List<Parsed> parse(String sql) {
        StatementParser parser = new StatementParser(sql);
        try {
            return parser.parseAll();
        } catch (MillraceException e) {
            throw parser.words.explained(e, parser.start);
        }
    }

    /**
     * The statement of a text that is one INSERT of constants and nothing else, in a time that grows with its length only; empty for any
     * other.
     */
    public static Optional<Parsed> insertOfConstants(String sql) {
        StatementParser parser = new StatementParser(sql);
        if (!parser.changes.isInsertOfConstants()) {
            return Optional.empty();
        }
        return parser.parseAll().stream()
                .filter(parsed -> parsed.syntax() instanceof Syntax.Insert insert
                        && insert.literals().isPresent())
                .findFirst();
    }

    /** Where in a text that {@link #insertOfConstants} took the rows behind VALUES begin. */
    public static int startOfRows(String insertOfConstants) {
        List<Lexeme> tokens = Lexer.tokens(insertOfConstants);
        int values = 0;
        while (!tokens.get(values).isWord("values")) {
            values++;
        }
        return tokens.get(values + 1).start();
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
                throw words.unexpected();
            }
            // The parameters of what PREPARE prepares are given by EXECUTE.
            int parameters = syntax instanceof Syntax.Prepare ? 0 : words.highestParameter(first);
            statements.add(new Parsed(syntax, words.startOf(first), words.endFrom(first), parameters));
        }
    }

    /** One statement, up to what cannot belong to it. */
    public Syntax statement() {
        start = words.place();
        Lexeme head = words.peek();
        if (head.isSymbol("(")) {
            return rows.select();
        }
        if (head.kind() != Kind.WORD) {
            throw words.syntaxError();
        }
        Optional<Syntax> passedOver = PostgresCommands.at(words);
        if (passedOver.isPresent()) {
            return passedOver.get();
        }
        UpkeepParser upkeep = new UpkeepParser(words);
        if (upkeep.isNext()) {
            return upkeep.statement();
        }
        return switch (head.text()) {
            case "select" -> SelectInto.at(words).orElseGet(rows::select);
            case "values", "table", "from", "pivot", "unpivot", "pivot_wider", "pivot_longer" -> rows.select();
            case "with" -> changes.isNextBehindWith() ? changes.afterWith() : rows.select();
            case "comment" -> new CommentParser(words, roles).statement();
            case "create" -> roles.isNext() ? roles.create() : definitions.create(roles);
            case "drop" -> roles.isNext() ? roles.drop() : drop();
            case "pause", "resume" -> pauseOrResume();
            case "alter" -> roles.isNext() ? roles.alter() : alter();
            case "grant" -> roles.grant();
            case "revoke" -> roles.revoke();
            case "reassign" -> roles.reassign();
            case "reprocess" -> new ReprocessParser(words).reprocess();
            case "reindex" -> new IndexParser(words).reindex();
            case "insert", "update", "delete", "merge" -> changes.change();
            case "truncate" -> changes.truncate();
            case "copy" -> rows.copy();
            case "subscribe" -> rows.subscribe();
            case "declare" -> rows.declare();
            case "fetch", "move" -> rows.fetch();
            case "close" -> rows.close();
            case "flush" -> {
                words.next();
                yield new Syntax.Complete(new Statement.Flush());
            }
            case "checkpoint" -> {
                words.next();
                yield new Syntax.Complete(new Statement.Checkpoint());
            }
            case "backup" -> {
                words.next();
                words.expect("to");
                yield new Syntax.Complete(new Statement.Backup(words.string()));
            }
            case "show" -> show();
            case "describe", "desc" -> describe();
            case "explain" -> new ExplainParser(words, this).explain();
            case "set" -> session.set();
            case "reset" -> session.reset();
            case "begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release" ->
                session.transaction();
            case "prepare" -> session.prepare();
            case "execute" -> session.execute();
            case "deallocate" -> session.deallocate();
            case "discard" -> session.discard();
            case "listen", "unlisten", "notify" -> session.listen();
            case "lock" -> session.lock();
            default ->
                throw Suggestion.nearest(head.text(), Keywords.STATEMENTS)
                        .map(nearest -> words.syntaxError()
                                .withHint("did you mean \"" + nearest.toUpperCase(Locale.ROOT) + "\"?"))
                        .orElseGet(words::syntaxError);
        };
    }

    // ---- objects ---------------------------------------------------------------------------------------------------

    private Syntax alter() {
        return definitions.alter(roles);
    }

    private Syntax drop() {
        if (words.peekAt(1).isWord("owned")) {
            return roles.dropOwned();
        }
        words.expect("drop");
        SubscriptionParser subscription = new SubscriptionParser(words);
        if (subscription.isNext()) {
            return subscription.drop();
        }
        SecretParser secret = new SecretParser(words);
        if (secret.isNext()) {
            return secret.drop();
        }
        SchemaParser schema = new SchemaParser(words, this);
        if (schema.isNext()) {
            return schema.drop();
        }
        ObjectKind kind = words.objectKind();
        if (kind == ObjectKind.INDEX) {
            words.accept("concurrently"); // writers go on anyway
        }
        boolean ifExists = words.accept("if");
        if (ifExists) {
            words.expect("exists");
        }
        List<String> names = new ArrayList<>();
        do {
            names.add(words.relationName());
            words.skipParentheses();
        } while (words.acceptComma());
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
                pause
                        ? new Statement.Pause(kind, name, ifExists)
                        : new Statement.Resume(kind, name, ifExists, words.acceptAll("skip", "row")));
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
        if (words.acceptAll("columns", "from")) {
            return new Syntax.Describe(words.identifier());
        }
        Optional<String> names = new ShowNames(words).query();
        if (names.isPresent()) {
            return new StatementParser(names.get()).statement();
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
        if (words.accept("sources")) {
            return Optional.of(Listing.STREAMS);
        }
        return words.acceptAll("query", "templates") ? Optional.of(Listing.TEMPLATES) : Optional.empty();
    }

    private Syntax describe() {
        words.next();
        if (words.peek().kind() == Kind.STRING) {
            String query = "FROM '" + words.next().text().replace("'", "''") + "'";
            return new Syntax.DescribeQuery(queryText(new Words(query, Lexer.tokens(query))));
        }
        boolean isQuery = words.peek().isSymbol("(")
                || DESCRIBED.contains(words.peek().text())
                        && words.peek().kind() == Kind.WORD
                        && words.peekAt(1).kind() != Kind.END;
        if (isQuery) {
            return new Syntax.DescribeQuery(queryText(words));
        }
        if (words.peekAt(1).isName()) {
            words.objectKind();
        }
        return new Syntax.Describe(words.identifier());
    }

    // ---- shared by the parts ---------------------------------------------------------------------------------------

    /** The expression that a text is. */
    public static SqlNode parseExpression(String text) {
        return new Words(text, Lexer.tokens(text)).expression();
    }

    /** The literal that a text is; empty for any other expression. */
    public static Optional<LiteralRows.Cell> literal(String expression) {
        String text = "VALUES (" + expression + ")";
        return LiteralRowsParser.read(new Words(text, Lexer.tokens(text)))
                .filter(rows -> rows.width() == 1 && rows.rows() == 1)
                .map(rows -> new LiteralRows.Cell(
                        rows.cell(0, 0).kind(), rows.cell(0, 0).text(), 1));
    }

    /** Whether a text is an expression and nothing else. */
    public static boolean isExpression(String text) {
        try {
            Words words = new Words(text, Lexer.tokens(text));
            words.expression();
            return words.peek().kind() == Kind.END;
        } catch (MillraceException e) {
            return false;
        }
    }

    /** The query that a text is. */
    public static SqlNode parseQuery(String text) {
        Words words = new Words(text, Lexer.tokens(text));
        SqlNode query = words.query();
        if (words.peek().kind() != Kind.END) {
            throw words.syntaxError();
        }
        return query;
    }

    /** A query with its EMIT clause. */
    public static Syntax.QueryText queryText(Words words) {
        return queryText(words, List.of());
    }

    /** A query with its EMIT clause, whose columns have other names: {@code SELECT * FROM (query) AS named (a, b)}. */
    public static Syntax.QueryText queryText(Words words, List<SqlIdentifier> columns) {
        int first = words.place();
        SqlNode query = words.query();
        String text = words.textFrom(first);
        int behind = words.place();
        Emit emit = emit(words);
        if (columns.isEmpty()) {
            return new Syntax.QueryText(query, emit, words.textFrom(first));
        }
        List<SqlNode> operands = new ArrayList<>(List.of(query, new SqlIdentifier("named", SqlParserPos.ZERO)));
        operands.addAll(columns);
        SqlNode named = PlainSelect.of(
                SqlParserPos.ZERO,
                SqlNodeList.of(SqlIdentifier.star(SqlParserPos.ZERO)),
                SqlStdOperatorTable.AS.createCall(SqlParserPos.ZERO, operands));
        String names = String.join(
                ", ",
                columns.stream()
                        .map(column -> Identifiers.quote(column.getSimple()))
                        .toList());
        String period = words.place() > behind ? " " + words.textFrom(behind) : "";
        return new Syntax.QueryText(named, emit, "SELECT * FROM (" + text + ") AS named (" + names + ")" + period);
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
}
