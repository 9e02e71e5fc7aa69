package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;

/** Waits. */
public final class Pauses {
    private static final long STEP_MILLIS = 5; // between two looks at the interrupt

    private Pauses() {}

    /**
     * {@code pg_sleep}: holds the calling thread so long; what stops a statement ends it within milliseconds.
     *
     * @param call tells calls that are written alike from each other, each of which sleeps
     */
    public static void sleep(double seconds, long call, Text out) {
        long end = System.nanoTime() + (long) Math.min(seconds * 1e9, Long.MAX_VALUE / 2.0);
        long rest = end - System.nanoTime();
        while (rest > 0) {
            Interrupt.checkResting();
            try {
                Thread.sleep(Math.min(STEP_MILLIS, rest / 1_000_000), (int) (rest < 1_000_000 ? rest : 0));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement while it sleeps");
            }
            rest = end - System.nanoTime();
        }
        out.empty();
    }
}
