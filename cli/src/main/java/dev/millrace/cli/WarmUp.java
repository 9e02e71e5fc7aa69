package dev.millrace.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Shortens the way to the first answer. Most of it is loading and initialising classes, which goes faster from the JVM's
 * archive of classes that the launcher makes once.
 */
final class WarmUp {
    private static final String STATEMENTS = """
            CREATE STREAM warm (k TEXT NOT NULL, ts TIMESTAMP, v DOUBLE PRECISION, n BIGINT, d NUMERIC(10,2),
                                WATERMARK FOR ts AS ts - INTERVAL '1 second')
              WITH (connector = 'file', path = '%s', on_error = 'dead_letter');
            CREATE MATERIALIZED VIEW warm_view AS
              SELECT k, count(*) AS n, avg(v) AS average, max(n) AS most, sum(d) AS total FROM warm
              WHERE v > 0.1 GROUP BY k;
            CREATE MATERIALIZED VIEW warm_windows AS
              SELECT window_start, count(*) AS n FROM TUMBLE(TABLE warm, DESCRIPTOR(ts), INTERVAL '1 minute')
              GROUP BY window_start, window_end;
            SELECT * FROM warm_view;
            SELECT k, upper(k) AS u, n + 1 AS m FROM warm WHERE n >= 2;
            SELECT window_start, n FROM warm_windows ORDER BY n DESC LIMIT 3;
            """;

    private WarmUp() {}

    /** The command line of a little of everything, for the archive; leaves a small file in the temporary folder. */
    static String[] arguments() throws IOException {
        Path file = Files.createTempFile("millrace-warm-up", ".csv");
        file.toFile().deleteOnExit();
        Files.writeString(file, """
                k,ts,v,n,d
                a,2024-01-01 00:00:00,1.5,1,1.25
                b,2024-01-01 00:00:01,2.5,2,
                a,2024-01-01 00:02:00,,3,9.99
                b,not a time,1,4,0
                """);
        return new String[] {"sql", "-c", STATEMENTS.formatted(file)};
    }
}
