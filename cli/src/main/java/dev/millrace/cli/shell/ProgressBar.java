package dev.millrace.cli.shell;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.server.result.Progress;
import dev.millrace.server.session.Session;
import dev.millrace.time.Clock;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;

/**
 * Draws how far the statement under way is on standard error: on a terminal one line that is redrawn and wiped at the end,
 * elsewhere a line every few seconds. Quick statements show nothing.
 */
final class ProgressBar implements AutoCloseable {
    private static final long REDRAW_MILLIS = 100;
    private static final long QUIET_NANOS_ON_TERMINAL = 400_000_000L;
    private static final long QUIET_NANOS_ELSEWHERE = 2_000_000_000L;
    private static final long LINE_EVERY_NANOS = 2_000_000_000L;
    private static final int BAR_CELLS = 30;
    private static final String EIGHTHS = " ▏▎▍▌▋▊▉";

    private final Session session;
    private final Clock clock;
    private final PrintWriter err;
    private final boolean onTerminal;
    private final Thread thread;

    @GuardedBy("this") private boolean running;

    @GuardedBy("this") private long startedNanos;

    @GuardedBy("this") private long lastLineNanos;

    @GuardedBy("this") private boolean drawn;

    ProgressBar(Session session, Clock clock, PrintWriter err, boolean onTerminal) {
        this.session = session;
        this.clock = clock;
        this.err = err;
        this.onTerminal = onTerminal;
        this.thread = new Thread(this::draw, "millrace-progress");
        thread.setDaemon(true);
        thread.start();
    }

    /** A statement begins. */
    synchronized void begin() {
        running = true;
        startedNanos = clock.nanoTime();
        lastLineNanos = startedNanos;
    }

    /** Takes the bar away: its statement ended, or something else is to be written. */
    synchronized void end() {
        running = false;
        if (drawn) {
            drawn = false;
            err.print("\r\u001b[K");
            err.flush();
        }
    }

    private void draw() {
        try {
            while (true) {
                Thread.sleep(REDRAW_MILLIS);
                drawOnce();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    private synchronized void drawOnce() {
        long now = clock.nanoTime();
        long quietNanos = onTerminal ? QUIET_NANOS_ON_TERMINAL : QUIET_NANOS_ELSEWHERE;
        if (!running || now - startedNanos < quietNanos) {
            return;
        }
        Optional<Progress> progress = session.progress();
        if (progress.isPresent() && onTerminal) {
            drawn = true;
            err.print("\r" + line(progress.get()) + "\u001b[K");
            err.flush();
        } else if (progress.isPresent() && now - lastLineNanos >= LINE_EVERY_NANOS) {
            lastLineNanos = now;
            err.println(line(progress.get()));
        }
    }

    static String line(Progress progress) {
        String rate = String.format(
                "%s rows, %s rows/s", amount(progress.rows()), amount(Math.round(progress.rowsPerSecond())));
        return progress.fraction() < 0
                ? rate
                : String.format(
                        Locale.ROOT, "%s %3.0f %%  %s", bar(progress.fraction()), progress.fraction() * 100, rate);
    }

    private static String bar(double fraction) {
        int eighths = (int) Math.round(Math.min(1, fraction) * BAR_CELLS * 8);
        StringBuilder bar = new StringBuilder(BAR_CELLS + 2).append('▕').append("█".repeat(eighths / 8));
        if (eighths % 8 > 0) {
            bar.append(EIGHTHS.charAt(eighths % 8));
        }
        return bar.append(" ".repeat(BAR_CELLS + 1 - bar.length())).append('▏').toString();
    }

    /** A count of at most four digits and a unit: 12.3M. */
    static String amount(long count) {
        if (count < 10_000) {
            return Long.toString(count);
        }
        double value = count;
        String units = " kMGT";
        int unit = 0;
        while (value >= 1000 && unit + 1 < units.length()) {
            value /= 1000;
            unit++;
        }
        return String.format(Locale.ROOT, value < 100 ? "%.1f%s" : "%.0f%s", value, units.charAt(unit));
    }

    @Override
    public void close() {
        end();
        thread.interrupt();
    }
}
