package dev.millrace.benchmarks.process;

import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Session;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.IntFunction;

/** Statements of one session, whose rows are read to their end and thrown away. The session stays the caller's; of its thread. */
public record SessionStatements(Session session) {
    public void run(String sql) {
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

    /** How long statements took, and for how long of that the session's own thread was at work. */
    public record Times(double[] millis, double[] cpuMillis) {
        public static double quantile(double[] millis, double rank) {
            double[] sorted = millis.clone();
            Arrays.sort(sorted);
            return sorted[(int) Math.min(sorted.length - 1, sorted.length * rank)];
        }
    }

    /** Runs {@code count} texts one after the other, and what follows each, untimed; times in that order. */
    public Times time(int count, IntFunction<String> sql, IntFunction<String> after) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double[] millis = new double[count];
        double[] cpuMillis = new double[count];
        for (int number = 0; number < count; number++) {
            String text = sql.apply(number);
            long cpu = threads.getCurrentThreadCpuTime();
            long start = System.nanoTime();
            run(text);
            millis[number] = (System.nanoTime() - start) / 1e6;
            cpuMillis[number] = (threads.getCurrentThreadCpuTime() - cpu) / 1e6;
            run(after.apply(number));
        }
        return new Times(millis, cpuMillis);
    }
}
