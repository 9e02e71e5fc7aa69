package dev.millrace.benchmarks.nexmark;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The suite's queries that Millrace runs, by their names, and the resources they are in. */
enum NexmarkQuery {
    Q0,
    Q1,
    Q2,
    Q3,
    Q4,
    Q5,
    Q6,
    Q7,
    Q8,
    Q9,
    Q10,
    Q11,
    Q12,
    Q14,
    Q15,
    Q16,
    Q17,
    Q18,
    Q19,
    Q20,
    Q21,
    Q22,
    /** Row patterns, as the suite for complex event processing has them: three rising bids of a bidder. */
    M1,
    /** Valleys in an auction's prices. */
    M2;

    /** The streams that queries read. */
    static final List<String> TABLES = List.of("person", "auction", "bid");

    String title() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** How many events to measure with: enough for the JIT to be done early, few enough for what the query keeps of each. */
    long usualEvents() {
        return EnumSet.of(Q4, Q6, Q9, Q18, Q19, Q20).contains(this) ? 10_000_000 : 50_000_000;
    }

    /** The query in our dialect. */
    String sql() {
        return resource(title() + ".sql").orElseThrow();
    }

    /** The query as the oracle understands it. */
    String oracleSql() {
        return resource("duckdb/" + title() + ".sql").orElseThrow();
    }

    /** What to ask of our answer, in a table called {@code answer}, before comparing it; usually just its rows. */
    String answerSql() {
        return resource("duckdb/" + title() + ".answer.sql").orElse("SELECT * FROM answer");
    }

    /** The statements that create the streams. */
    static String tablesSql(long events, long rate) {
        return resource("tables.sql")
                .orElseThrow()
                .replace("${events}", Long.toString(events))
                .replace("${rate}", Long.toString(rate));
    }

    private static Optional<String> resource(String name) {
        try (InputStream in = NexmarkQuery.class.getResourceAsStream("/nexmark/" + name)) {
            return in == null ? Optional.empty() : Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
