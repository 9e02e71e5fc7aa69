package dev.millrace.benchmarks.latency;

import dev.millrace.server.session.Session;
import dev.millrace.server.session.StatementResult;
import dev.millrace.server.session.StatementResults;
import java.util.function.IntFunction;

/** Statements of one session, whose rows are read to their end and thrown away. */
record Statements(Session session) {
    void run(String sql) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows rows) {
                        for (var next = rows.next(); next.isPresent(); next = rows.next()) {
                            next.get().close();
                        }
                    }
                }
            }
        }
    }

    /** Runs {@code count} texts one after the other, and what follows each, untimed; milliseconds in that order. */
    double[] time(int count, IntFunction<String> sql, IntFunction<String> after) {
        double[] millis = new double[count];
        for (int number = 0; number < count; number++) {
            String text = sql.apply(number);
            long start = System.nanoTime();
            run(text);
            millis[number] = (System.nanoTime() - start) / 1e6;
            run(after.apply(number));
        }
        return millis;
    }
}
