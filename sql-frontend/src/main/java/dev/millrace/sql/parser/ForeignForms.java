package dev.millrace.sql.parser;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Optional;

/**
 * Forms that people know from Flink, RisingWave and other systems, and what says the same here; those of PostgreSQL are {@link
 * PostgresForms}. Stateless.
 */
final class ForeignForms {
    /**
     * @param words those at which the statement fails
     * @param ours what to write instead
     */
    private record Form(WordPattern words, String ours) {
        Form(String words, String ours) {
            this(WordPattern.of(words), ours);
        }
    }

    private static final String COMPUTED = "a computed column has its type first: ts TIMESTAMPTZ GENERATED ALWAYS AS"
            + " (to_timestamp(ms / 1000.0)) STORED";

    private static final List<Form> FORMS = List.of(
            new Form("create | unique", "CREATE UNIQUE INDEX, or ALTER TABLE t ADD UNIQUE (columns)"),
            new Form(
                    "create | subscription",
                    "CREATE SUBSCRIPTION s FROM v WITH (limit = '64MB'), then SUBSCRIBE TO s; or without one, SUBSCRIBE TO v"),
            new Form("declare * | subscription", "DECLARE c CURSOR FOR SUBSCRIBE TO v"),
            new Form("create | connection", "options stand in WITH (..) of the stream or sink"),
            new Form(
                    "create | secret",
                    "CREATE SECRET name AS 'text', and ${secret:name} in WITH (..) of a stream or sink"),
            new Form("with no data", "it is filled as it is made; leave WITH NO DATA out"),
            new Form("with data", "leave WITH DATA out"),
            new Form("corresponding", "UNION CORRESPONDING BY (a, b), or UNION BY NAME"),
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
            new Form("append only", "CREATE TABLE t (..) APPEND ONLY; rows of a stream are only added anyway"),
            new Form("format * encode", "the format is an option: WITH (connector = .., format = 'json')"),
            new Form(
                    "metadata",
                    "a column holds what the records hold; docs/connectors.md lists what each connector gives"),
            new Form("emit | final", "EMIT ON WINDOW CLOSE"),
            new Form("sink * from | (", "CREATE SINK s WITH (..) AS SELECT .."),
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
     * What to write instead, if a statement fails at a form that is known.
     *
     * @param lexemes of the whole text
     */
    static Optional<String> ours(List<Lexeme> lexemes, int place) {
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
                .filter(form -> form.words().isAt(lexemes, place))
                .map(Form::ours)
                .findFirst();
    }
}
