package dev.millrace.server.simulation;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** The outside of sinks that print: which lines came, and how often. It outlives the processes that print. */
final class PrintedLines {
    private final Map<String, Integer> lines = new TreeMap<>();
    private final ByteArrayOutputStream begun = new ByteArrayOutputStream(); // of a line
    private final PrintStream stream = new PrintStream(
            new OutputStream() {
                @Override
                public void write(int next) {
                    if (next == '\n') {
                        lines.merge(begun.toString(StandardCharsets.UTF_8), 1, Integer::sum);
                        begun.reset();
                    } else {
                        begun.write(next);
                    }
                }
            },
            true,
            StandardCharsets.UTF_8);

    /** Where they come. */
    PrintStream stream() {
        return stream;
    }

    /** How often a line came. */
    int times(String line) {
        return lines.getOrDefault(line, 0);
    }
}
