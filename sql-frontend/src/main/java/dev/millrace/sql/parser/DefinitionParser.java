package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/** CREATE and ALTER. */
final class DefinitionParser {
    /** Of a materialized view that is not to be filled: an option whose name nobody writes by accident. */
    private static final String NO_DATA = "with no data";

    private final Words words;
    private final StatementParser statements;

    DefinitionParser(Words words, StatementParser statements) {
        this.words = words;
        this.statements = statements;
    }

    Syntax create(RoleParser roles) {
        words.expect("create");
        SchemaParser schema = new SchemaParser(words, statements);
        if (schema.isNext()) {
            return schema.create(roles::role);
        }
        IndexParser index = new IndexParser(words);
        if (index.isNext()) {
            return index.create();
        }
        SubscriptionParser subscription = new SubscriptionParser(words);
        if (subscription.isNext()) {
            return subscription.create();
        }
        boolean replace = words.acceptAll("or", "replace");
        SecretParser secret = new SecretParser(words);
        if (secret.isNext()) {
            return secret.create(replace);
        }
        boolean temporary = temporary();
        boolean unlogged = words.peekAt(1).isWord("table") && words.accept("unlogged");
        ObjectKind kind = words.objectKind();
        IfExists ifExists = StatementParser.ifNotExists(words, replace);
        String name = temporary ? words.newTemporaryName() : words.newRelationName();
        return switch (kind) {
            case STREAM, TABLE -> new TableParser(words).relation(kind, name, ifExists, unlogged);
            case VIEW -> view(name, ifExists);
            case CONTINUOUS_QUERY -> continuousQuery(name, ifExists);
            case MATERIALIZED_VIEW -> {
                List<SqlIdentifier> columns = words.optionalColumns();
                Map<String, String> options = new LinkedHashMap<>(words.optionalOptions());
                words.expect("as");
                Syntax.QueryText query = StatementParser.queryText(words, columns);
                if (words.acceptAll("with", "no", "data")) {
                    options.put(NO_DATA, "true");
                } else {
                    words.acceptAll("with", "data");
                }
                yield new Syntax.CreateQuery(kind, name, ifExists, options, query);
            }
            case SINK -> sink(name, ifExists);
            case QUERY_TEMPLATE -> template(name, ifExists);
            case FUNCTION -> function(name, ifExists);
            case INDEX, SCHEMA -> throw words.syntaxError(); // which cannot be replaced
        };
    }

    /** {@code [LOCAL] TEMP} before TABLE or VIEW. */
    private boolean temporary() {
        int scope = words.peek().isWord("local") || words.peek().isWord("global") ? 1 : 0;
        Lexeme word = words.peekAt(scope);
        Lexeme kind = words.peekAt(scope + 1);
        boolean temporary =
                (word.isWord("temporary") || word.isWord("temp")) && (kind.isWord("table") || kind.isWord("view"));
        if (temporary) {
            words.backTo(words.place() + scope + 1);
        }
        return temporary;
    }

    // ---- queries and sinks -----------------------------------------------------------------------------------------

    private Syntax continuousQuery(String name, IfExists ifExists) {
        List<SqlIdentifier> columns = words.optionalColumns();
        Map<String, String> options = words.optionalOptions();
        if (words.acceptAll("from", "template")) {
            String template = words.relationName();
            words.expectSymbol("(");
            List<SqlNode> arguments = new ArrayList<>();
            if (!words.peek().isSymbol(")")) {
                do {
                    arguments.add(words.expression());
                } while (words.acceptComma());
            }
            words.expectSymbol(")");
            return new Syntax.CreateFromTemplate(name, ifExists, options, template, arguments);
        }
        words.expect("as");
        return new Syntax.CreateQuery(
                ObjectKind.CONTINUOUS_QUERY, name, ifExists, options, StatementParser.queryText(words, columns));
    }

    private Syntax view(String name, IfExists ifExists) {
        List<SqlIdentifier> columns = words.optionalColumns();
        words.expect("as");
        Syntax.QueryText query = StatementParser.queryText(words);
        if (words.peek().isWord("with")) {
            throw MillraceException.notAvailableYet("WITH CHECK OPTION")
                    .at(words.peek().start() + 1)
                    .withHint("a view is read, not written");
        }
        return new Syntax.CreateView(name, ifExists, columns, query);
    }

    private Syntax sink(String name, IfExists ifExists) {
        if (words.accept("from")) {
            SqlIdentifier from = words.identifier();
            Map<String, String> options = words.optionalOptions();
            return new Syntax.CreateSink(name, ifExists, Optional.of(from), StatementParser.allOf(from), options);
        }
        Map<String, String> options = new HashMap<>(words.optionalOptions());
        if (!words.peek().isWord("as")) {
            throw words.expected(List.of("from", "with", "as"));
        }
        words.next();
        Syntax.QueryText query = StatementParser.queryText(words);
        words.moreOptions(options);
        return new Syntax.CreateSink(name, ifExists, Optional.empty(), query, options);
    }

    private Syntax template(String name, IfExists ifExists) {
        List<Syntax.Column> parameters = new ArrayList<>();
        words.expectSymbol("(");
        if (!words.peek().isSymbol(")")) {
            do {
                parameters.add(new Syntax.Column(words.simpleIdentifier(), words.type(), false));
            } while (words.acceptComma());
        }
        words.expectSymbol(")");
        words.expect("as");
        return new Syntax.CreateTemplate(
                name, ifExists, parameters, StatementParser.queryText(words).text());
    }

    private Syntax function(String name, IfExists ifExists) {
        List<Syntax.Column> parameters = new ArrayList<>();
        words.expectSymbol("(");
        if (!words.peek().isSymbol(")")) {
            do {
                parameters.add(parameter(parameters.size() + 1));
            } while (words.acceptComma());
        }
        words.expectSymbol(")");
        words.expect("returns");
        List<Syntax.Column> table = new ArrayList<>();
        Optional<TypeSpec> returns = Optional.empty();
        if (words.accept("table")) {
            words.expectSymbol("(");
            do {
                table.add(new Syntax.Column(words.simpleIdentifier(), words.type(), false));
            } while (words.acceptComma());
            words.expectSymbol(")");
        } else {
            returns = Optional.of(words.type());
        }
        String language = "";
        boolean isVolatile = false;
        boolean isStrict = false;
        Map<String, String> options = new HashMap<>();
        List<String> definition = new ArrayList<>();
        while (true) { // in any order, as in PostgreSQL
            if (words.accept("language")) {
                language = words.peek().kind() == Lexeme.Kind.STRING ? words.string() : words.name();
            } else if (words.accept("as")) {
                do {
                    definition.add(words.string());
                } while (words.acceptComma());
            } else if (words.accept("return")) {
                int first = words.place();
                words.expression();
                definition.add("SELECT " + words.textFrom(first));
            } else if (words.acceptAll("called", "on", "null", "input")) {
                continue; // what a body does anyway
            } else if (words.accept("strict") || words.acceptAll("returns", "null", "on", "null", "input")) {
                isStrict = true;
            } else if (words.peek().isWord("with") && words.peekAt(1).isSymbol("(")) {
                words.moreOptions(options);
            } else if (words.acceptAll("parallel", "safe") || words.accept("leakproof")) {
                continue; // there is nothing to decide
            } else if (words.accept("cost") || words.accept("rows")) {
                words.optionValue(); // what PostgreSQL's planner is to assume
            } else if (words.accept("volatile")) {
                isVolatile = true;
            } else if (!words.accept("immutable") && !words.accept("stable")) {
                break;
            }
        }
        if (language.isEmpty() || definition.isEmpty()) {
            throw words.expected(List.of(language.isEmpty() ? "language" : "as"));
        }
        return new Syntax.CreateFunction(
                name, ifExists, parameters, returns, table, language, isVolatile, isStrict, options, definition);
    }

    /** A parameter with or without a name. */
    private Syntax.Column parameter(int number) {
        words.accept("in"); // as all are
        boolean named = words.peekAt(1).isName()
                && !words.peekAt(1).isWord("precision")
                && !words.peekAt(1).isWord("varying")
                && !words.peekAt(1).isWord("with")
                && !words.peekAt(1).isWord("without")
                && !words.peekAt(1).isWord("default");
        SqlIdentifier name = named ? words.simpleIdentifier() : new SqlIdentifier("$" + number, SqlParserPos.ZERO);
        Syntax.Column parameter = new Syntax.Column(name, words.type(), false);
        if (words.peek().isWord("default") || words.peek().isSymbol("=")) {
            throw MillraceException.notAvailableYet("DEFAULT of a function's parameter")
                    .at(words.peek().start() + 1)
                    .withHint("a second function, of another name, that calls this one with the value");
        }
        return parameter;
    }

    // ---- ALTER -----------------------------------------------------------------------------------------------------

    Syntax alter(RoleParser roles) {
        words.expect("alter");
        if (words.peek().isWord("index")) {
            return new IndexParser(words).alter();
        }
        SchemaParser schema = new SchemaParser(words, statements);
        if (schema.isNext()) {
            return schema.alter(roles);
        }
        SubscriptionParser subscription = new SubscriptionParser(words);
        if (subscription.isNext()) {
            return subscription.alter();
        }
        SecretParser secret = new SecretParser(words);
        if (secret.isNext()) {
            return secret.alter();
        }
        if (words.accept("system")) {
            return new SessionParser(words, Optional.empty()).alterSystem();
        }
        ObjectKind kind = words.objectKind();
        boolean ifExists = words.acceptAll("if", "exists");
        words.accept("only");
        String name = words.relationName();
        words.skipParentheses();
        Optional<Syntax> renamed = new RenameParser(words).at(kind, name, ifExists);
        if (renamed.isPresent()) {
            return renamed.get();
        }
        AlterTableParser table = new AlterTableParser(words);
        if (kind == ObjectKind.TABLE && table.isNext()) {
            return table.actions(name, ifExists);
        }
        if (words.peek().isWord("owner")) {
            return roles.owner(kind, name);
        }
        if (kind == ObjectKind.STREAM && words.accept("edge")) {
            return edge(name);
        }
        if (words.accept("set")) {
            return new Syntax.Complete(new Statement.AlterOptions(kind, name, words.options()));
        }
        if (words.peekAt(1).isSymbol("(") && words.accept("reset")) {
            Map<String, String> options = words.options();
            options.replaceAll((option, value) -> "");
            return new Syntax.Complete(new Statement.AlterOptions(kind, name, options));
        }
        boolean runs = isQuery(kind) || kind == ObjectKind.STREAM;
        if (runs && words.accept("resume")) {
            return new Syntax.Complete(new Statement.Resume(kind, name, ifExists, words.acceptAll("skip", "row")));
        }
        if (runs && words.accept("pause")) {
            return new Syntax.Complete(new Statement.Pause(kind, name, ifExists));
        }
        if (isQuery(kind) && words.acceptAll("apply", "replacement")) {
            return new Syntax.Complete(new Statement.ApplyReplacement(kind, name, words.relationName()));
        }
        refuseChange(kind);
        if (!words.peek().isWord("as")) {
            throw words.expected(
                    isQuery(kind) ? List.of("as", "set", "owner", "resume", "pause") : List.of("as", "set", "owner"));
        }
        words.next();
        return new Syntax.AlterQuery(kind, name, StatementParser.queryText(words));
    }

    /** EDGE 'device' SET (..), EDGE ALL SET (..). */
    private Syntax edge(String stream) {
        Optional<String> device = Optional.empty();
        if (words.peek().kind() == Lexeme.Kind.STRING) {
            device = Optional.of(words.next().text());
        } else if (!words.accept("all")) {
            throw words.expected(List.of("'device'", "all"));
        }
        if (!words.accept("set")) {
            throw words.expected(List.of("set"));
        }
        return new Syntax.Complete(new Statement.AlterEdge(stream, device, words.options()));
    }

    private static boolean isQuery(ObjectKind kind) {
        return kind == ObjectKind.CONTINUOUS_QUERY || kind == ObjectKind.MATERIALIZED_VIEW;
    }

    private void refuseChange(ObjectKind kind) {
        Lexeme verb = words.peek();
        boolean changes = verb.isWord("add") || verb.isWord("drop") || verb.isWord("rename") || verb.isWord("alter");
        if (changes) {
            String what = kind.sqlName().toUpperCase(Locale.ROOT);
            throw MillraceException.notAvailableYet(
                            "ALTER " + what + " .. " + verb.text().toUpperCase(Locale.ROOT))
                    .at(verb.start() + 1)
                    .withHint("DROP it and CREATE it with other columns; a view over it can give them other names");
        }
    }
}
