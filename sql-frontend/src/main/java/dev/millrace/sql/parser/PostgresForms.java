package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What PostgreSQL's commands have that the same commands do not have here, and what works instead. A statement that the parser cannot read
 * any further at such a place is refused with 0A000; at any other place it is a syntax error. Commands that are not here at all are in
 * {@link PostgresCommands}. Stateless.
 */
final class PostgresForms {
    /**
     * @param name what is not there, as its error says
     * @param statement how the statement begins; nothing for any
     * @param words those at which it fails
     * @param hint what works instead
     */
    private record Form(String name, Optional<WordPattern> statement, WordPattern words, String hint) {
        private static final WordPattern REPLACES = WordPattern.of("create or replace");

        Form(String name, String statement, String words, String hint) {
            this(
                    name,
                    statement.isEmpty() ? Optional.empty() : Optional.of(WordPattern.of(statement)),
                    WordPattern.of(words),
                    hint);
        }

        boolean isAt(List<Lexeme> lexemes, int start, int place) {
            return (statement.isEmpty() || begins(statement.get(), lexemes, start)) && words.isAt(lexemes, place);
        }

        /** OR REPLACE says nothing of what is created. */
        private static boolean begins(WordPattern first, List<Lexeme> lexemes, int start) {
            boolean replaces = REPLACES.isAt(lexemes, start);
            int second = start + (replaces ? 3 : 1);
            List<Lexeme> words = new ArrayList<>(List.of(lexemes.get(start)));
            words.addAll(lexemes.subList(second, Math.min(second + first.here().size(), lexemes.size())));
            return first.isAt(words, 0);
        }
    }

    private static final String PARTS = "a table needs no parts: rows are spread over the workers by their keys";
    private static final String BOTH = "CREATE VIEW .. AS SELECT .. FROM a UNION ALL SELECT .. FROM b reads both";
    private static final String STORED = "leave it out: rows lie in memory and in the server's data directory";
    private static final String TYPED =
            "name the columns; CREATE TABLE .. AS SELECT * FROM other WITH NO DATA has the same";
    private static final String FIRED = "a materialized view follows every change, and SUBSCRIBE TO tells of it";
    private static final String LASTING =
            "CREATE TEMP TABLE and VIEW last as long as their session, or until DROP; a WITH query lasts for a statement";
    private static final String CHECKED = "constraints hold of all rows at the end of each statement";
    private static final String SEARCHED = "CREATE TEMP TABLE .. AS WITH RECURSIVE .. before it";
    private static final String LOCKS =
            "rows are not locked by reading: UPDATE .. RETURNING changes and reads them at once,"
                    + " and holds them until the transaction ends";
    private static final String BODY = "AS 'SELECT ..' or RETURN expression";
    private static final String SEVERAL =
            "RETURNS ROW(a INT, b TEXT) or TABLE (..) gives several values, an array takes any number";
    private static final String ANEW = "CREATE OR REPLACE FUNCTION says it anew";
    private static final String ON_RELATIONS = "privileges are on relations, functions, the schema and the database";
    private static final String COPIED =
            "COPY .. FROM STDIN and TO STDOUT go through the client: psql -c 'COPY t TO STDOUT' | gzip";
    private static final String SUBSCRIBED =
            "subscriptions are to queries: CREATE SUBSCRIPTION s FROM v, ALTER SUBSCRIPTION s ACKNOWLEDGE '..'";
    private static final String SHOWN = "it gives text; millrace.operator_stats has what operators did as rows";
    private static final String RELATION = "alter table/view/materialized/index/stream/foreign";

    private static final List<Form> FORMS = List.of(
            // CREATE
            new Form("a temporary relation of this kind", "create", "temporary/temp", LASTING),
            new Form("a temporary relation of this kind", "create", "global/local temporary/temp", LASTING),
            new Form(
                    "CREATE RECURSIVE VIEW",
                    "create",
                    "recursive",
                    "join a view with itself as often as is needed; MATCH_RECOGNIZE follows chains of rows"),
            new Form("INHERITS", "create", "inherits", BOTH),
            new Form("PARTITION OF", "create", "partition of", PARTS),
            new Form("PARTITION BY", "create", "partition by", PARTS),
            new Form("CREATE TABLE .. OF", "create table", "of", TYPED),
            new Form("TABLESPACE", "create", "tablespace", STORED),
            new Form("USING of a relation", "create table/materialized", "using", STORED),
            new Form("STORAGE", "create/alter", "storage", STORED),
            new Form("COMPRESSION", "create/alter", "compression", STORED),
            new Form("ON COMMIT", "create", "on commit", LASTING),
            new Form("a deferrable constraint", "create/alter", "deferrable", CHECKED),
            new Form("a deferrable constraint", "create/alter", "initially deferred", CHECKED),
            new Form("UNIQUE USING INDEX", "alter table", "unique using", "ADD UNIQUE (columns)"),
            new Form("PRIMARY KEY USING INDEX", "alter table", "key | using", "ADD PRIMARY KEY (columns)"),
            new Form("CREATE TABLE .. AS EXECUTE", "create", "as | execute", "CREATE TABLE .. AS SELECT .."),
            new Form(
                    "WITH in CREATE VIEW",
                    "create view",
                    "with (",
                    "GRANT SELECT on the view shows its rows and no others"),
            new Form("SETOF", "create function", "setof | *", "RETURNS TABLE (name type, ..) gives rows"),
            new Form("OUT and VARIADIC parameters", "create function", "( | variadic", SEVERAL),
            new Form("OUT and VARIADIC parameters", "create function", ", | variadic", SEVERAL),
            new Form("OUT and VARIADIC parameters", "create function", "( out/inout * | *", SEVERAL),
            new Form("OUT and VARIADIC parameters", "create function", ", out/inout * | *", SEVERAL),
            new Form("BEGIN ATOMIC", "create function", "begin atomic", BODY),
            new Form(
                    "SECURITY of a function",
                    "create function",
                    "security/external",
                    "a function runs as who calls it"),
            new Form(
                    "SET of a function",
                    "create function",
                    "set",
                    "names in a function are found in the schema public"),
            new Form(
                    "WINDOW of a function",
                    "create function",
                    "window",
                    "CREATE FUNCTION .. LANGUAGE JAVA makes aggregates, which have OVER"),
            new Form("TRANSFORM of a function", "create function", "transform", BODY),
            new Form("SUPPORT of a function", "create function", "support", BODY),
            // ALTER
            new Form(
                    "ALTER FUNCTION but for OWNER TO",
                    "alter function",
                    "immutable/stable/volatile/strict/called/returns",
                    ANEW),
            new Form(
                    "ALTER FUNCTION but for OWNER TO",
                    "alter function",
                    "security/external/leakproof/parallel/cost",
                    ANEW),
            new Form("ALTER FUNCTION but for OWNER TO", "alter function", "rows/support/depends/no/not/reset", ANEW),
            new Form("ALTER FUNCTION but for OWNER TO", "alter function", "set | *", ANEW),
            new Form("ALTER .. SET TABLESPACE", RELATION, "set | tablespace", STORED),
            new Form("ALTER .. SET ACCESS METHOD", RELATION, "set | access", STORED),
            new Form(
                    "ALTER .. SET LOGGED",
                    RELATION,
                    "set | logged/unlogged",
                    "durability is chosen by synchronous_commit; docs/durability.md"),
            new Form("ALTER .. SET WITHOUT", RELATION, "set | without", "tables have no OIDs, and no order on disk"),
            new Form("ALTER .. CLUSTER ON", RELATION, "cluster on", "an index has its own order, rows need none"),
            new Form("ALTER TABLE .. ENABLE", RELATION, "enable/disable", FIRED),
            new Form(
                    "ROW LEVEL SECURITY",
                    RELATION,
                    "force row",
                    "CREATE VIEW with the rows that a role may see, and GRANT SELECT on it"),
            new Form(
                    "ROW LEVEL SECURITY",
                    RELATION,
                    "no force",
                    "CREATE VIEW with the rows that a role may see, and GRANT SELECT on it"),
            new Form("REPLICA IDENTITY", RELATION, "replica", "SUBSCRIBE TO gives whole rows, old and new"),
            new Form("INHERIT", RELATION, "inherit", BOTH),
            new Form("INHERIT", RELATION, "no inherit", BOTH),
            new Form("ATTACH PARTITION", RELATION, "attach", PARTS),
            new Form("DETACH PARTITION", RELATION, "detach", PARTS),
            new Form("ALTER TABLE .. OF", RELATION, "of", TYPED),
            new Form("ALTER TABLE .. OF", RELATION, "not of", TYPED),
            new Form("VALIDATE CONSTRAINT", RELATION, "validate", CHECKED),
            new Form("ALTER CONSTRAINT", RELATION, "alter | constraint", CHECKED),
            new Form("ALTER .. DEPENDS ON EXTENSION", "alter", "depends", "there are no extensions"),
            new Form("ALTER .. DEPENDS ON EXTENSION", "alter", "no depends", "there are no extensions"),
            new Form("ALTER VIEW", "alter view", "reset", "CREATE OR REPLACE VIEW"),
            new Form(
                    "ALTER SUBSCRIPTION but for ACKNOWLEDGE",
                    "alter subscription",
                    "refresh/connection/disable/enable/set/add/drop/skip/owner/rename",
                    SUBSCRIBED),
            new Form("a subscription to another server", "create subscription", "connection", SUBSCRIBED),
            // GRANT
            new Form("a privilege on a type", "grant/revoke", "on | type/domain", ON_RELATIONS),
            new Form("a privilege on a sequence", "grant/revoke", "on | sequence", ON_RELATIONS),
            new Form("a privilege on a foreign server", "grant/revoke", "on | foreign", ON_RELATIONS),
            new Form("a privilege on a large object", "grant/revoke", "on | large", ON_RELATIONS),
            new Form("a privilege on a tablespace", "grant/revoke", "on | tablespace", ON_RELATIONS),
            new Form(
                    "a privilege on a setting",
                    "grant/revoke",
                    "on parameter",
                    "settings for superusers are for superusers"),
            new Form(
                    "a privilege on a setting",
                    "grant/revoke",
                    "alter system",
                    "settings for superusers are for superusers"),
            // rows
            new Form("FOR UPDATE", "", "for update", LOCKS),
            new Form("FOR NO KEY UPDATE", "", "for no key update", LOCKS),
            new Form("FOR SHARE", "", "for share", LOCKS),
            new Form("FOR KEY SHARE", "", "for key share", LOCKS),
            new Form("SEARCH", "with", "search depth/breadth first", SEARCHED),
            new Form("CYCLE", "with", "cycle", SEARCHED),
            new Form("COPY of a PROGRAM", "copy", "program", COPIED),
            new Form("COPY .. WHERE", "copy", "where", "COPY into a table of its own, then INSERT .. SELECT .. WHERE"),
            new Form("FORCE in COPY", "copy", "force", "WITH (FORMAT csv) quotes what needs it"),
            new Form("EXPLAIN in this format", "explain", "format | json/xml/yaml", SHOWN),
            // the session
            new Form(
                    "SET TRANSACTION SNAPSHOT",
                    "set",
                    "snapshot",
                    "each statement sees what is committed when it begins"),
            new Form("SET XML OPTION", "set", "option", "JSONB holds values with parts"));

    private PostgresForms() {}

    /**
     * The error of a form that is known.
     *
     * @param lexemes of the whole text
     * @param start the place where the statement begins
     * @param place where it cannot be read any further
     */
    static Optional<MillraceException> refused(List<Lexeme> lexemes, int start, int place) {
        return FORMS.stream()
                .filter(form -> form.isAt(lexemes, start, place))
                .findFirst()
                .map(form -> MillraceException.notAvailableYet(form.name()).withHint(form.hint()));
    }
}
