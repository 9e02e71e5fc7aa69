package dev.millrace.benchmarks.suite;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A folder of SQL that one can read, in the resources {@code suites}.
 *
 * <pre>
 * suite.properties     title, names of the queries in their order, how many events to measure and to check with
 * streams.sql          creates streams, tables and functions
 * NAME.sql             a query in our dialect; its first comment says what it asks
 * duckdb/NAME.sql      the same as the oracle understands it, where it does not understand ours
 * duckdb/NAME.answer.sql   what to ask of our answer, a table called answer, before it is compared; usually just its rows
 * duckdb/setup.sql     what the oracle needs beside the streams' rows, such as macros
 * answers/NAME.txt     the oracle's answer
 * </pre>
 *
 * Streams whose columns stand on lines of their own are those that checks append rows to; others are files that tables are
 * filled from. In {@code streams.sql} stand <code>${events}</code>, <code>${rate}</code> (events per second of event time),
 * <code>${step}</code> (the time between two), <code>${data}</code> (the folder of real data) and <code>${functions}</code> (a jar with the classes that the file
 * names); in the oracle's queries <code>${watermark}</code>, the time up to which windows are closed, and
 * <code>${clock}</code>, how many rows there were when processing time last moved.
 */
public final class Suite {
    /** All suites, by name. */
    public static final List<String> NAMES = List.of("nexmark", "ysb", "linear-road", "riotbench", "pluto");

    private static final Pattern STREAM =
            Pattern.compile("CREATE STREAM (\\w+) \\(\\n([^;]*?)\\n\\)( WITH \\([^;]*?\\))?;");
    private static final Pattern WATERMARK =
            Pattern.compile("WATERMARK FOR (\\w+) AS \\w+(?: - INTERVAL '(\\d+) seconds?')?");
    private static final Pattern CLASS = Pattern.compile("'\\$\\{functions}', '([\\w.$]+)'");

    private final String name;
    private final Properties properties = new Properties();
    private final String setup;
    private final List<Stream> streams = new ArrayList<>();

    /**
     * A stream that queries read.
     *
     * @param timeColumn its event time, if it has a watermark
     * @param delayMicros how far the watermark is behind
     */
    record Stream(String name, Optional<String> timeColumn, long delayMicros) {
        boolean isIn(String sql) {
            return Pattern.compile("\\b" + name + "\\b").matcher(sql).find();
        }
    }

    private Suite(String name) {
        this.name = name;
        try {
            properties.load(new StringReader(resource("suite.properties").orElseThrow()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.setup = resource("streams.sql").orElseThrow();
        Matcher matcher = STREAM.matcher(setup);
        while (matcher.find()) {
            Matcher watermark = WATERMARK.matcher(matcher.group(2));
            boolean timed = watermark.find();
            long seconds = timed && watermark.group(2) != null ? Long.parseLong(watermark.group(2)) : 0;
            streams.add(new Stream(
                    matcher.group(1), timed ? Optional.of(watermark.group(1)) : Optional.empty(), seconds * 1_000_000));
        }
    }

    /** @throws java.util.NoSuchElementException if there is none of that name */
    public static Suite named(String name) {
        return new Suite(name);
    }

    public String name() {
        return name;
    }

    /** One line about it. */
    public String title() {
        return properties.getProperty("title");
    }

    /** The queries' names in their order. */
    public List<String> queries() {
        return List.of(properties.getProperty("queries").split("\\s+"));
    }

    /** Whether the suite reads files of the real data. */
    public boolean readsFiles() {
        return setup.contains("${data}");
    }

    List<Stream> streams() {
        return streams;
    }

    /** The streams that a query may read: those whose names it has in it. */
    List<Stream> streamsOf(String query) {
        String sql = sql(query);
        return streams.stream().filter(stream -> stream.isIn(sql)).toList();
    }

    /** How many events to measure a query with. */
    long usualEvents(String query) {
        return number("events." + query).orElseGet(() -> number("events").orElse(0L));
    }

    /** A number of the properties, such as {@code check.events}. */
    Optional<Long> number(String key) {
        return Optional.ofNullable(properties.getProperty(key)).map(Long::parseLong);
    }

    /** How many rows of a stream are appended when epochs are checked. */
    long epochRows(Stream stream) {
        return number("epochs.rows." + stream.name())
                .orElseGet(() -> number("epochs.rows").orElse((long) Integer.MAX_VALUE));
    }

    /** The query in our dialect. */
    String sql(String query) {
        return resource(query + ".sql")
                .orElseThrow(() -> new IllegalArgumentException(name + " has no query " + query));
    }

    /** What the query asks: its first comment. */
    String comment(String query) {
        String text = sql(query);
        return text.startsWith("--") ? text.substring(2, text.indexOf('\n')).strip() : "";
    }

    /** The query as the oracle understands it. */
    String oracleSql(String query) {
        return resource("duckdb/" + query + ".sql").orElseGet(() -> sql(query));
    }

    /** What to ask of our answer, in a table called {@code answer}, before comparing it. */
    Optional<String> answerSql(String query) {
        return resource("duckdb/" + query + ".answer.sql");
    }

    Optional<String> oracleSetup(Inputs inputs) {
        return resource("duckdb/setup.sql").map(inputs::fill);
    }

    /** The oracle's answer as it is kept beside the query. */
    Optional<String> keptAnswer(String query) {
        return resource("answers/" + query + ".txt");
    }

    /** The statements that create all that queries read. */
    String setup(Inputs inputs) {
        return inputs.fill(setup);
    }

    /** The same with streams that have no connector: rows are appended to them. */
    String setupWithoutSources(Inputs inputs) {
        return inputs.fill(STREAM.matcher(setup)
                .replaceAll(stream -> Matcher.quoteReplacement(
                        "CREATE STREAM " + stream.group(1) + " (\n" + stream.group(2) + "\n);")));
    }

    /** The classes of the suite's Java functions. */
    List<String> functionClasses() {
        return CLASS.matcher(setup)
                .results()
                .map(result -> result.group(1))
                .distinct()
                .toList();
    }

    private Optional<String> resource(String file) {
        try (InputStream in = Suite.class.getResourceAsStream("/suites/" + name + "/" + file)) {
            return in == null ? Optional.empty() : Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
