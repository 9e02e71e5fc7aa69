package dev.millrace.cli.demo;

import dev.millrace.Millrace;
import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.time.Clock;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Attributes;
import org.jline.terminal.Terminal;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedCharSequence.ForceMode;
import org.jline.utils.AttributedString;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace demo}. Live in a terminal; plain frames, one a second, elsewhere. */
public final class DemoCommand {
    private static final int PLAIN_COLUMNS = 80;
    private static final int PLAIN_LINES = 24;
    private static final int COLOURS = 256;
    private static final long FRAME_MILLIS = 100;
    private static final long PLAIN_FRAME_MILLIS = 1000;

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Clock clock;
    private final long endNanos;
    private final long startNanos;

    private DemoCommand(Clock clock, long seconds) {
        this.clock = clock;
        this.startNanos = clock.nanoTime();
        this.endNanos = seconds == 0 ? Long.MAX_VALUE : startNanos + TimeUnit.SECONDS.toNanos(seconds);
    }

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("demo");
        spec.usageMessage().description("Shows this machine's vital signs live, answered by continuous SQL queries.");
        spec.addOption(OptionSpec.builder("--seconds")
                .paramLabel("N")
                .description("End after so many seconds (default: when you say so).")
                .type(Integer.class)
                .build());
        spec.addOption(OptionSpec.builder("--plain")
                .description("Frames of plain text, one a second, also in a terminal.")
                .type(boolean.class)
                .build());
        return spec;
    }

    /** Runs the demonstration; returns the exit code. */
    public static int run(ParseResult arguments) throws IOException, InterruptedException {
        int seconds = arguments.matchedOptionValue("--seconds", 0);
        boolean plain = arguments.matchedOptionValue("--plain", false)
                || !System.getProperty("millrace.terminals", System.console() != null ? "012" : "")
                        .contains("1");
        DatabaseOptions options = DatabaseOptions.defaults();
        Vitals vitals = new Vitals();
        try (Database database = Millrace.open(options);
                VitalFeeds feeds = new VitalFeeds(database, options.clock(), vitals)) {
            Dashboard dashboard = new Dashboard(vitals);
            DemoCommand demo = new DemoCommand(options.clock(), seconds); // time begins when the queries run
            if (plain) {
                demo.runPlain(feeds, dashboard);
            } else {
                demo.runLive(feeds, dashboard);
            }
            demo.printSql();
        } catch (MillraceException e) {
            System.err.println("millrace demo: " + e.getMessage());
            return 1;
        }
        return 0;
    }

    private double elapsedSeconds() {
        return (clock.nanoTime() - startNanos) / 1e9;
    }

    /** Waits for the next frame; false when it is time to end. */
    private boolean awaitFrame(long millis) throws InterruptedException {
        return !stopped.await(millis, TimeUnit.MILLISECONDS) && clock.nanoTime() < endNanos;
    }

    private void runPlain(VitalFeeds feeds, Dashboard dashboard) throws InterruptedException {
        boolean more = true;
        while (more) {
            more = awaitFrame(PLAIN_FRAME_MILLIS);
            feeds.poll();
            for (AttributedString line : dashboard.frame(PLAIN_COLUMNS, PLAIN_LINES, elapsedSeconds())) {
                out.println(line.toString().stripTrailing());
            }
            out.println();
            out.flush();
        }
    }

    private void runLive(VitalFeeds feeds, Dashboard dashboard) throws IOException, InterruptedException {
        try (Terminal terminal =
                TerminalBuilder.builder().name("millrace").system(true).build()) {
            Attributes before = terminal.enterRawMode();
            terminal.handle(Signal.INT, signal -> stopped.countDown());
            terminal.writer().write("\u001b[?1049h\u001b[?25l"); // other screen, no cursor
            try {
                do {
                    feeds.poll();
                    draw(terminal, dashboard);
                    int key = terminal.reader().read(1);
                    if (key == 'q' || key == 3) {
                        stopped.countDown();
                    }
                } while (awaitFrame(FRAME_MILLIS));
            } finally {
                terminal.writer().write("\u001b[?25h\u001b[?1049l");
                terminal.writer().flush();
                terminal.setAttributes(before);
            }
        }
    }

    private void draw(Terminal terminal, Dashboard dashboard) {
        int columns = terminal.getWidth() > 0 ? terminal.getWidth() : PLAIN_COLUMNS;
        int lines = terminal.getHeight() > 0 ? terminal.getHeight() : PLAIN_LINES;
        List<AttributedString> frame = dashboard.frame(columns, lines, elapsedSeconds());
        // Not by the terminal's own line-drawing set: frames are in UTF-8 already.
        StringBuilder text = new StringBuilder("\u001b[?2026h\u001b[H"); // shown as a whole, where terminals can
        for (int line = 0; line < frame.size(); line++) {
            text.append(line == 0 ? "" : "\r\n")
                    .append(frame.get(line).toAnsi(COLOURS, ForceMode.None))
                    .append("\u001b[K");
        }
        terminal.writer().write(text.append("\u001b[J\u001b[?2026l").toString());
        terminal.writer().flush();
    }

    private void printSql() {
        out.println("-- What you saw, to go on from in ./millrace sql:");
        for (DemoQueries.Step step : DemoQueries.STEPS) {
            out.println();
            out.println("-- " + step.purpose());
            out.println(step.sql());
        }
        out.println();
        out.println("SUBSCRIBE TO " + DemoQueries.PER_SECOND + ";");
        out.flush();
    }
}
