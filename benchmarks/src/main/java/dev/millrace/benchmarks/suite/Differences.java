package dev.millrace.benchmarks.suite;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Supplier;

/** What comparing a query's two answers found. */
final class Differences {
    private Differences() {}

    /** What the comparison says, or why it failed, with all its causes: no query keeps the others from being compared. */
    static String orFailure(Supplier<String> comparison) {
        try {
            return comparison.get();
        } catch (RuntimeException | AssertionError e) {
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace, true));
            return "failed: " + trace;
        }
    }
}
