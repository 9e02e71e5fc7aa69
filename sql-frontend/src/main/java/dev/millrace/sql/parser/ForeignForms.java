package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Optional;

/** Forms that people know from Flink, RisingWave and other systems, and what says the same here. Stateless. */
final class ForeignForms {
    /**
     * @param words those at which the statement fails; before {@code |} what stands in front of it
     * @param ours what to write instead
     */
    private record Form(String words, String ours) {
        boolean isAt(List<Lexeme> lexemes, int place) {
            String[] sides = words.split("\\|");
            String[] before = sides.length > 1 ? sides[0].strip().split(" ") : new String[0];
            String[] here = sides[sides.length - 1].strip().split(" ");
            return place >= before.length
                    && areAt(before, lexemes, place - before.length)
                    && areAt(here, lexemes, place);
        }

        private static boolean areAt(String[] words, List<Lexeme> lexemes, int place) {
            for (int i = 0; i < words.length; i++) {
                Lexeme lexeme = lexemes.get(Math.min(place + i, lexemes.size() - 1));
                boolean any = words[i].equals("*") && lexeme.kind() != Kind.END;
                if (!any && !lexeme.isWord(words[i]) && !lexeme.isSymbol(words[i])) {
                    return false;
                }
            }
            return true;
        }
    }

    private static final String STREAM =
            "CREATE STREAM s (.., WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (connector = ..) reads from outside";

    private static final String TYPES =
            "a column's type is one of the built-in ones; CHECK (c IN ('a', 'b')) limits its values, ROW(a INT, b TEXT) has fields";

    private static final String COMPUTED = "a computed column has its type first: ts TIMESTAMPTZ GENERATED ALWAYS AS"
            + " (to_timestamp(ms / 1000.0)) STORED";

    private static final List<Form> FORMS = List.of(
            new Form("create | source", STREAM),
            new Form("replace | source", STREAM),
            new Form("source", "sources are called streams here: CREATE STREAM, DROP STREAM, SHOW STREAMS"),
            new Form("create | temporary", "a WITH query lasts for a statement; what CREATE makes stays until DROP"),
            new Form("create | temp", "a WITH query lasts for a statement; what CREATE makes stays until DROP"),
            new Form("create | sequence", "SERIAL and IDENTITY columns are numbered: CREATE TABLE t (id SERIAL, ..)"),
            new Form("alter | sequence", "ALTER TABLE t ALTER COLUMN id RESTART WITH 100 says which number comes next"),
            new Form("drop | sequence", "the numbers of a table's columns go with the table"),
            new Form("create | unique", "CREATE UNIQUE INDEX, or ALTER TABLE t ADD UNIQUE (columns)"),
            new Form(
                    "create | subscription",
                    "CREATE SUBSCRIPTION s FROM v WITH (limit = '64MB'), then SUBSCRIBE TO s; or without one, SUBSCRIBE TO v"),
            new Form("declare * | subscription", "DECLARE c CURSOR FOR SUBSCRIBE TO v"),
            new Form("create | connection", "options stand in WITH (..) of the stream or sink"),
            new Form(
                    "create | secret",
                    "CREATE SECRET name AS 'text', and ${secret:name} in WITH (..) of a stream or sink"),
            new Form(
                    "create | schema",
                    "relations of users are in the schema public; a prefix of the name, as in s_t, tells groups of them apart"),
            new Form("drop | schema", "DROP what is in it"),
            new Form("create | unlogged", "leave UNLOGGED out: rows are in memory"),
            new Form("create | type", TYPES),
            new Form("drop | type", TYPES),
            new Form("create | domain", TYPES),
            new Form("create | extension", "functions come with CREATE FUNCTION .. LANGUAGE JAVA, from a jar"),
            new Form("create | aggregate", "CREATE FUNCTION .. LANGUAGE JAVA makes aggregates too; docs/functions.md"),
            new Form(
                    "create | procedure",
                    "CREATE FUNCTION .. LANGUAGE SQL, or several statements between BEGIN and COMMIT"),
            new Form("call", "several statements between BEGIN and COMMIT"),
            new Form("do", "several statements between BEGIN and COMMIT"),
            new Form("create | trigger", "a materialized view follows every change, and SUBSCRIBE TO tells of it"),
            new Form("create | rule", "a materialized view follows every change, and SUBSCRIBE TO tells of it"),
            new Form(
                    "create | recursive",
                    "WITH RECURSIVE is not supported; join a view with itself as often as is needed"),
            new Form("refresh", "a materialized view is always current; FLUSH waits for all that has been accepted"),
            new Form("with no data", "it is filled as it is made; leave WITH NO DATA out"),
            new Form("with data", "leave WITH DATA out"),
            new Form("comment", "SHOW CREATE shows a statement as it was written, with the comments in it"),
            new Form("for update", "rows are not locked: what stands between BEGIN and COMMIT is applied as one epoch"),
            new Form("for share", "rows are not locked: what stands between BEGIN and COMMIT is applied as one epoch"),
            new Form(
                    "for no key update",
                    "rows are not locked: what stands between BEGIN and COMMIT is applied as one epoch"),
            new Form("inherits", "CREATE VIEW .. AS SELECT .. FROM a UNION ALL SELECT .. FROM b reads both"),
            new Form("partition of", "a table needs no parts: rows are spread over the workers by their keys"),
            new Form("partition by list", "a table needs no parts: rows are spread over the workers by their keys"),
            new Form("partition by range", "a table needs no parts: rows are spread over the workers by their keys"),
            new Form("partition by hash", "a table needs no parts: rows are spread over the workers by their keys"),
            new Form("corresponding", "UNION BY NAME"),
            new Form("create | database", "there is one database; leave it out"),
            new Form("create | catalog", "there is one database; leave it out"),
            new Form("use", "there is one database; leave it out"),
            new Form("wait", "FLUSH waits for all that has been accepted"),
            new Form(
                    "statement set",
                    "each CREATE SINK, CONTINUOUS QUERY or VIEW runs by itself; what they read is shared"),
            new Form(
                    "execute | set",
                    "each CREATE SINK, CONTINUOUS QUERY or VIEW runs by itself; what they read is shared"),
            new Form(
                    "not enforced",
                    "leave NOT ENFORCED out: a new row of a key that is there is an error, or ON CONFLICT says"),
            new Form("( * | as", COMPUTED),
            new Form(", * | as", COMPUTED),
            new Form("append only", "CREATE STREAM is for rows that are only added"),
            new Form("format * encode", "the format is an option: WITH (connector = .., format = 'json')"),
            new Form(
                    "metadata",
                    "a column holds what the records hold; docs/connectors.md lists what each connector gives"),
            new Form("emit | final", "EMIT ON WINDOW CLOSE"),
            new Form("sink * | into", "CREATE MATERIALIZED VIEW v AS .. keeps an answer that others read"),
            new Form("changelog", "SUBSCRIBE TO shows changes; a sink writes them, with op '+' and '-'"),
            new Form("session with", "sessions are rows of SESSION(TABLE t PARTITION BY key, DESCRIPTOR(time), gap)"),
            new Form("with rollup", "GROUP BY ROLLUP (a, b)"),
            new Form("with cube", "GROUP BY CUBE (a, b)"),
            new Form("to year", "date_trunc('year', time)"),
            new Form("to month", "date_trunc('month', time)"),
            new Form("to day", "date_trunc('day', time)"),
            new Form("to hour", "date_trunc('hour', time)"),
            new Form("to minute", "date_trunc('minute', time)"),
            new Form("to second", "date_trunc('second', time)"),
            new Form("version", "FOR SYSTEM_TIME AS OF time, on the right of a join"),
            new Form("`", "names are quoted as \"name\""));

    private ForeignForms() {}

    /**
     * A syntax error with what to write instead, if it is at a form that is known.
     *
     * @param lexemes of the whole text
     */
    static MillraceException explained(MillraceException error, List<Lexeme> lexemes) {
        if (error.sqlState() != SqlState.SYNTAX_ERROR || error.position().isEmpty()) {
            return error;
        }
        int start = error.position().getAsInt() - 1;
        for (int place = 0; place < lexemes.size(); place++) {
            if (lexemes.get(place).start() == start) {
                return ours(lexemes, place).map(error::withHint).orElse(error);
            }
        }
        return error;
    }

    private static Optional<String> ours(List<Lexeme> lexemes, int place) {
        boolean settingName = lexemes.get(place).kind() == Kind.STRING
                && place > 0
                && (lexemes.get(place - 1).isWord("set")
                        || lexemes.get(place - 1).isWord("reset"));
        if (settingName) {
            return Optional.of("SET name = value, without quotes round the name; SHOW ALL lists the settings");
        }
        boolean trailing = lexemes.get(place).isWord("with")
                && lexemes.get(Math.min(place + 1, lexemes.size() - 1)).isSymbol("(");
        if (trailing) {
            return Optional.of("options stand before the query: CREATE .. WITH (..) AS SELECT ..");
        }
        return FORMS.stream()
                .filter(form -> form.isAt(lexemes, place))
                .map(Form::ours)
                .findFirst();
    }
}
