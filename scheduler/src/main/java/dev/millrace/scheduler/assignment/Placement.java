package dev.millrace.scheduler.assignment;

import java.util.function.IntUnaryOperator;

/**
 * Where something new is placed (Pluto, section 3.3.2): on one of the least loaded workers, drawn, so that what comes in a burst, before loads have been
 * measured again, is not all placed on the same.
 */
public final class Placement {
    /** Pluto's k. */
    public static final int CHOICES = 2;

    private Placement() {}

    /**
     * One of the {@value #CHOICES} workers with the least loads.
     *
     * @param loads of each worker, one at least
     * @param draw from 0 to below its argument, each as likely
     */
    public static int choose(double[] loads, IntUnaryOperator draw) {
        int least = 0;
        for (int i = 1; i < loads.length; i++) {
            least = loads[i] < loads[least] ? i : least;
        }
        if (loads.length == 1) {
            return least;
        }
        int second = least == 0 ? 1 : 0;
        for (int i = 0; i < loads.length; i++) {
            second = i != least && loads[i] < loads[second] ? i : second;
        }
        return draw.applyAsInt(CHOICES) == 0 ? least : second;
    }
}
