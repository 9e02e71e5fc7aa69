package dev.millrace.server.log;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Decides for the whole process what is logged and where it goes. Until that is said, events go nowhere. */
public final class Logs {
    private static final List<String> CHATTY = List.of("io.netty", "org.apache", "oshi");

    /** The JDK forgets the level of a logger that nobody holds. */
    private static final Set<Logger> KEPT = ConcurrentHashMap.newKeySet();

    /**
     * Ours are written directly, not by a handler of the JDK: it takes those down as soon as the process is told to stop,
     * and then there is still something to say. Written by whoever begins, read by all.
     */
    private static volatile Optional<Lines> lines = Optional.empty();

    private Logs() {}

    /**
     * From now on events go to {@code out}, one line each; the former handlers are gone. Of libraries what is a warning at
     * least.
     */
    public static void begin(LogOptions options, PrintStream out) {
        Logger root = Logger.getLogger("");
        Arrays.stream(root.getHandlers()).forEach(root::removeHandler);
        root.setLevel(options.level().level());
        for (String library : CHATTY) {
            keepAt(options.level() == LogLevel.ERROR ? Level.SEVERE : Level.WARNING, library);
        }
        keepAt(
                Level.SEVERE,
                "org.apache.calcite"); // it warns of what it does not simplify, with the constants of queries
        keepAt(Level.SEVERE, "org.apache.kafka"); // it warns at each try of what our status says once
        Lines begun = new Lines(options, out);
        root.addHandler(begun);
        lines = Optional.of(begun);
    }

    private static void keepAt(Level level, String library) {
        Logger logger = Logger.getLogger(library);
        logger.setLevel(level);
        KEPT.add(logger);
    }

    static boolean takes(LogLevel level) {
        return lines.filter(to -> level.compareTo(to.options.level()) <= 0).isPresent();
    }

    static void write(LogRecord record) {
        lines.ifPresent(to -> to.publish(record));
    }

    /** Lines that are written at once, whole. */
    private static final class Lines extends Handler {
        private final LogOptions options;
        private final PrintStream out;

        Lines(LogOptions options, PrintStream out) {
            this.options = options;
            this.out = out;
        }

        @Override
        public void publish(LogRecord record) {
            String line = options.format() == LogFormat.JSON ? LogLine.json(record) : LogLine.text(record);
            synchronized (out) {
                out.println(line);
                out.flush();
            }
        }

        @Override
        public void flush() {
            out.flush();
        }

        @Override
        public void close() {
            flush();
        }
    }
}
