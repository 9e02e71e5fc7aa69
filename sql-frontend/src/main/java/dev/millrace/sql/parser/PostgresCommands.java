package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Commands of PostgreSQL for which there is nothing here: whole kinds of objects, and statements by themselves. They are known by their
 * first words and refused with 0A000 and what works instead; DROP .. IF EXISTS of what there cannot be says so and goes on, as scripts
 * expect. What is missing of commands that are here is in {@link PostgresForms}.
 */
final class PostgresCommands {
    /**
     * A kind of object.
     *
     * @param words by which a statement names it
     * @param verbs with which it does
     * @param hint what works instead
     */
    private record Kind(String words, String verbs, String hint) {
        /** Without the words by which it is only recognised. */
        String name() {
            return words.replaceAll(" \\S*/\\S*", "");
        }
    }

    private static final String CREATE_DROP = "create drop";
    private static final String ALL = "create alter drop";

    private static final String TYPES =
            "a column's type is one of the built-in ones; CHECK (c IN ('a', 'b')) limits its values, ROW(a INT, b TEXT) has fields";
    private static final String CHANGES = "a materialized view follows every change, and SUBSCRIBE TO tells of it";
    private static final String FUNCTIONS = "CREATE FUNCTION .. LANGUAGE SQL or JAVA";
    private static final String OPERATORS = "CREATE FUNCTION, called by its name";
    private static final String BATCHES = "several statements between BEGIN and COMMIT take effect at once";
    private static final String ONE_DATABASE = "there is one database, under whatever name a client connects to it";
    private static final String NUMBERS =
            "SERIAL and IDENTITY columns are numbered; ALTER TABLE t ALTER COLUMN id RESTART WITH 100 says which number comes next";
    private static final String OUTSIDE =
            "CREATE TABLE .. WITH (connector = ..) follows a table of another database; docs/connectors.md";
    private static final String TEXTS = "LIKE, ILIKE and regular expressions (~) find words in texts";
    private static final String BYTES = "texts are UTF-8, ordered by their bytes as COLLATE \"C\" has them";
    private static final String ORDERS = "each type has one order, which btree indexes have";
    private static final String STORED = "rows lie in memory and in the server's data directory (--data DIR)";

    private static final List<Kind> KINDS = List.of(
            new Kind("access method", CREATE_DROP, "CREATE INDEX .. USING btree or hash"),
            new Kind("aggregate", ALL, "CREATE FUNCTION .. LANGUAGE JAVA makes aggregates too; docs/functions.md"),
            new Kind("cast", CREATE_DROP, "CREATE FUNCTION, called by its name, converts as you say"),
            new Kind("collation", ALL, BYTES),
            new Kind("conversion", ALL, BYTES),
            new Kind("database", ALL, ONE_DATABASE + "; ALTER SYSTEM SET and ALTER ROLE .. SET keep settings"),
            new Kind("domain", ALL, TYPES),
            new Kind("event trigger", ALL, "GRANT and REVOKE say who may define what"),
            new Kind(
                    "extension",
                    ALL,
                    "CREATE FUNCTION .. LANGUAGE JAVA brings functions from a jar; gen_random_uuid"
                            + " and others are built in, as docs/function-list.md says"),
            new Kind("foreign data wrapper", ALL, OUTSIDE),
            new Kind("foreign table", ALL, OUTSIDE),
            new Kind("language", ALL, FUNCTIONS),
            new Kind("large object", "alter", "a column of type BYTEA holds bytes"),
            new Kind("operator", ALL, OPERATORS),
            new Kind("operator class", ALL, ORDERS),
            new Kind("operator family", ALL, ORDERS),
            new Kind("policy", ALL, "CREATE VIEW with the rows that a role may see, and GRANT SELECT on it"),
            new Kind("procedure", ALL, BATCHES + "; " + FUNCTIONS + " computes"),
            new Kind(
                    "publication",
                    ALL,
                    "SUBSCRIBE TO tells of changes, CREATE SINK writes them to Kafka, files or a database"),
            new Kind("routine", "alter drop", "ALTER FUNCTION, DROP FUNCTION"),
            new Kind("rule", ALL, CHANGES),
            new Kind("sequence", ALL, NUMBERS),
            new Kind("server", ALL, OUTSIDE),
            new Kind("statistics", ALL, "sizes are counted as rows change, for the order of joins"),
            new Kind("tablespace", ALL, STORED),
            new Kind("text search configuration", ALL, TEXTS),
            new Kind("text search dictionary", ALL, TEXTS),
            new Kind("text search parser", ALL, TEXTS),
            new Kind("text search template", ALL, TEXTS),
            new Kind("transform", CREATE_DROP, FUNCTIONS),
            new Kind("trigger", ALL, CHANGES),
            new Kind("type", ALL, TYPES),
            new Kind("user mapping for/if", ALL, OUTSIDE));

    /** Words before a kind that say more of it. */
    private static final Set<String> MODIFIERS =
            Set.of("or", "replace", "default", "constraint", "trusted", "procedural", "temporary", "temp");

    /** Kinds of which there are some, under names of their own. */
    private static final Set<String> THERE = Set.of("database", "language", "routine", "tablespace");

    /**
     * A statement by itself.
     *
     * @param words that it begins with
     */
    private record Command(WordPattern words, String name, String hint) {
        Command(String words, String hint) {
            this(WordPattern.of(words), words.replaceAll("/\\S*| ''", "").toUpperCase(Locale.ROOT), hint);
        }
    }

    private static final String ONE_STEP =
            "COMMIT takes effect in all relations at once, or in none; sinks commit exactly once";

    private static final List<Command> COMMANDS = List.of(
            new Command("call", BATCHES),
            new Command("do", BATCHES),
            new Command("import foreign schema", OUTSIDE),
            new Command("load", FUNCTIONS + "; COPY .. FROM STDIN brings rows"),
            new Command("security label", "GRANT and REVOKE say who may do what"),
            new Command("prepare transaction ''", ONE_STEP),
            new Command("commit prepared ''", ONE_STEP),
            new Command("rollback prepared ''", ONE_STEP),
            new Command(
                    "set seed",
                    "random() begins anew in each statement; ORDER BY md5(key::text) is the same each time"),
            new Command("alter role/user all", "ALTER SYSTEM SET holds for all roles"),
            new Command("alter table/index all in tablespace", STORED));

    private PostgresCommands() {}

    /**
     * The statement where the words are, if it is a command that there is not and that may be passed over.
     *
     * @return empty for a command that is here, or nowhere
     * @throws MillraceException 0A000 with what works instead, 42601 if nothing follows the command's words
     */
    static Optional<Syntax> at(Words words) {
        int start = words.place();
        for (Command command : COMMANDS) {
            if (words.isAt(command.words())) {
                words.next();
                throw refused(words, start, command.name(), command.hint());
            }
        }
        String verb = words.peek().text();
        if (words.peek().kind() != Lexeme.Kind.WORD || !ALL.contains(verb)) {
            return Optional.empty();
        }
        words.next();
        while (words.peek().kind() == Lexeme.Kind.WORD
                && MODIFIERS.contains(words.peek().text())) {
            words.next();
        }
        int kindPlace = words.place();
        Optional<Kind> kind = KINDS.stream()
                .filter(one -> List.of(one.verbs().split(" ")).contains(verb))
                .filter(one -> words.isAt(WordPattern.of(one.words())))
                .max(Comparator.comparingInt(one -> one.words().length()));
        if (kind.isEmpty()) {
            words.backTo(start);
            return Optional.empty();
        }
        words.backTo(kindPlace + kind.get().name().split(" ").length);
        return Optional.of(of(kind.get(), verb, words, start));
    }

    private static Syntax of(Kind kind, String verb, Words words, int start) {
        String command = verb.toUpperCase(Locale.ROOT) + " " + kind.name().toUpperCase(Locale.ROOT);
        if (verb.equals("drop") && !THERE.contains(kind.name()) && words.acceptAll("if", "exists")) {
            int what = words.place();
            String rest = words.restOfStatement();
            if (!rest.isEmpty()) {
                String dropped = rest.replaceAll("(?is)\\s+(cascade|restrict)$", "");
                return new Syntax.Complete(new Statement.NoOperation(
                        command, List.of(), Optional.of(kind.name() + " " + dropped + " does not exist, skipping")));
            }
            words.backTo(what);
        }
        throw refused(words, start, command, kind.hint());
    }

    private static MillraceException refused(Words words, int start, String name, String hint) {
        if (words.atStatementEnd()) {
            return words.syntaxError();
        }
        return MillraceException.notAvailableYet(name)
                .at(words.startOf(start) + 1)
                .withHint(hint);
    }
}
