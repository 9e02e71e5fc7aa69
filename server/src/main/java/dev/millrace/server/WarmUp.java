package dev.millrace.server;

import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.sql.Frontend;

/**
 * Shortens the way to the first answer: most of it is loading and initialising classes, which several threads can do at
 * once while the command line is read.
 */
final class WarmUp {
    private static final String STATEMENTS = """
            CREATE STREAM warm (k TEXT, ts TIMESTAMP, v DOUBLE PRECISION, n BIGINT,
                                WATERMARK FOR ts AS ts - INTERVAL '1 second')
              WITH (connector = 'datagen', rows = 1000);
            CREATE MATERIALIZED VIEW warm_view AS
              SELECT k, count(*) AS n, avg(v) AS average, max(n) AS most FROM warm WHERE v > 0.1 GROUP BY k;
            CREATE CONTINUOUS QUERY warm_windows AS
              SELECT window_start, count(*) AS n FROM TUMBLE(TABLE warm, DESCRIPTOR(ts), INTERVAL '1 minute')
              GROUP BY window_start, window_end;
            FLUSH;
            SELECT * FROM warm_view ORDER BY n DESC LIMIT 3;
            """;

    private WarmUp() {}

    /** Starts loading the front end beside what the calling thread does. */
    static void begin() {
        Thread thread = new Thread(
                () -> {
                    try {
                        new Frontend().parse("SELECT a, count(*) FROM t WHERE b > 1 GROUP BY a");
                    } catch (RuntimeException e) {
                        // only a head start; who needs the front end meets the error itself
                    }
                },
                "millrace-warm-up");
        thread.setDaemon(true);
        thread.start();
    }

    /** Runs a little of everything and says nothing. */
    static int run() {
        try (Database database = Millrace.open(DatabaseOptions.defaults());
                Session session = database.session()) {
            session.execute(STATEMENTS).drain();
        }
        return 0;
    }
}
