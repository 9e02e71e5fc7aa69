package dev.millrace.scheduler;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Estimates when the watermark will come that completes the next window of an input (Klink, section 3.1, there SWM), from how late those of up
 * to {@value #HISTORY} windows before came.
 *
 * <pre>
 *   d      time from a window's end, by event time, until its sweeping watermark was there: one for each epoch (window)
 *   w      when the next comes: the end of the next window + mean of d           (Eq. 2, 5)
 *   sigma  sqrt(mean of d squared - square of the mean of d)
 *   interval  w - b .. w + b, b at least 2 sigma: where 95 % are if d is normally distributed    (Eq. 7, Alg. 1);
 *             and so wide that 95 % of the delays before are in it
 *   slack  the sum over cycles of r from now on of P(w in it | w is not past) x (its end - now - work)    (Eq. 8-10)
 * </pre>
 *
 * <p>Three things are not the paper's. Its d is the mean delay of an epoch's events; here it is the watermark's own, which is what is
 * to be estimated, has the watermark's bound in it, and needs no clock for each row. And Eq. 6 is the variance of a mean over
 * all epochs, which vanishes as they become more; a single epoch's is meant to be in the interval, so its own variance is taken. And
 * delays that are skewed (Zipf) lie within 2 sigma of their mean in 92 % only: what they were before says how wide 95 % is.
 *
 * <p>The sum is not looped over but taken as the integral that it approximates: of a normal distribution cut at both ends, whose mean has a closed form.
 *
 * <p>One thread at a time tells what came; any thread reads estimates, which are of one moment each.
 */
public final class SweepingWatermarks {
    static final int HISTORY = 400;

    /** Klink's r. */
    public static final long CYCLE_NANOS = TimeUnit.MILLISECONDS.toNanos(120);

    private static final double SIGMAS = 2;
    private static final double CONFIDENCE = .95; // the paper's f
    private static final double CLOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(1); // finer is no watermark's time

    /** What is expected. */
    private record Estimate(long deadlineNanos, double expectedNanos, double sigmaNanos, double mostOffNanos) {
        boolean holds(long atNanos) {
            return Math.abs(atNanos - expectedNanos) <= mostOffNanos;
        }
    }

    private final long periodNanos;
    private final double[] delays = new double[HISTORY]; // from the first, so that their squares are exact
    private long firstDelay;
    private long epochs;
    private double sum;
    private double squares;
    private final ArrayDeque<Long> pending = new ArrayDeque<>(); // when those came that are not through

    // Written by who tells what came, read by policies and statistics.
    private volatile boolean known;
    private volatile boolean due;
    private volatile long dueSinceNanos; // while one is
    private volatile Estimate next = new Estimate(0, 0, 0, 0);
    private volatile long estimates;
    private volatile long hits;

    /** @param periodNanos from the end of a window to that of the next: its slide */
    public SweepingWatermarks(long periodNanos) {
        this.periodNanos = periodNanos;
    }

    /**
     * The first watermark at or behind a window's end has come; {@link #through} is called when it was carried to the query's end.
     *
     * @param deadlineNanos the window's end as a time of the clock: of the windows that it completes, the last
     */
    public void swept(long deadlineNanos, long nowNanos) {
        if (epochs > 1) {
            estimates++;
            hits += next.holds(nowNanos) ? 1 : 0;
        }
        long delay = nowNanos - deadlineNanos;
        firstDelay = epochs == 0 ? delay : firstDelay;
        int at = (int) (epochs % HISTORY);
        double fresh = delay - firstDelay;
        double old = epochs < HISTORY ? 0 : delays[at];
        delays[at] = fresh;
        sum += fresh - old;
        squares += fresh * fresh - old * old;
        epochs++;
        if (at == HISTORY - 1) {
            addUp(); // what was rounded does not add up for ever
        }
        double count = Math.min(epochs, HISTORY);
        double mean = sum / count;
        double sigma = Math.max(CLOCK_NANOS, Math.sqrt(Math.max(0, squares / count - mean * mean)));
        long deadline = deadlineNanos + periodNanos;
        next = new Estimate(deadline, deadline + firstDelay + mean, sigma, Math.max(SIGMAS * sigma, mostOff(mean)));
        known = true;
        pending.add(nowNanos);
        dueSinceNanos = pending.getFirst();
        due = true;
    }

    /** The oldest of those that came was carried to the query's end. */
    public void through() {
        pending.poll();
        if (pending.isEmpty()) {
            due = false;
        } else {
            dueSinceNanos = pending.getFirst();
        }
    }

    /** How far off the mean those were that had come, but for one of twenty. Once a window: sorting some hundred numbers. */
    private double mostOff(double mean) {
        int count = (int) Math.min(epochs, HISTORY);
        double[] off = new double[count];
        for (int i = 0; i < count; i++) {
            off[i] = Math.abs(delays[i] - mean);
        }
        Arrays.sort(off);
        return off[Math.min(count, (int) Math.ceil(CONFIDENCE * (count + 1))) - 1];
    }

    private void addUp() {
        sum = 0;
        squares = 0;
        for (double delay : delays) {
            sum += delay;
            squares += delay * delay;
        }
    }

    /** Whether a window's end was seen: before, nothing is expected. */
    public boolean isKnown() {
        return known;
    }

    /** When the next window ends in event time, by the clock. */
    public long deadlineNanos() {
        return next.deadlineNanos();
    }

    /** When the watermark is expected that completes it, by the clock. */
    public double expectedNanos() {
        return next.expectedNanos();
    }

    /** How often it was said when a watermark would come, and it has. */
    public long estimates() {
        return estimates;
    }

    /** How often it then came within the interval. */
    public long hits() {
        return hits;
    }

    /**
     * See {@link WindowProgress#slackNanos}. While one that came waits on its way, nothing is estimated: Eq. 1 has its time. One that is
     * later than its interval is due: its slack goes on to fall.
     */
    public double slackNanos(long nowNanos, double workNanos) {
        if (due) {
            return dueSinceNanos - nowNanos - workNanos;
        }
        Estimate estimate = next;
        double w = estimate.expectedNanos() - nowNanos;
        double sigma = estimate.sigmaNanos();
        double most = estimate.mostOffNanos() / sigma;
        double least = Math.max(-most, -w / sigma);
        if (least >= most) {
            return w - workNanos;
        }
        double below = Normal.below(least);
        double within = Normal.below(most) - below;
        double mean = w * within + sigma * (Normal.density(least) - Normal.density(most));
        double toCome = 1 - Normal.below(-w / sigma);
        return (mean + (CYCLE_NANOS / 2.0 - workNanos) * within) / toCome;
    }
}
