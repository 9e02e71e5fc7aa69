package dev.millrace.cli.shell;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.IntSupplier;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/**
 * Where a shell writes, always in UTF-8.
 *
 * @param out results; whoever writes flushes
 * @param err everything else; flushed at each line's end
 * @param inIsTerminal whether someone types
 * @param outIsTerminal whether someone looks at the results
 * @param errIsTerminal whether someone looks at the rest
 * @param columns how many cells the terminal is wide
 */
record Streams(
        Writer out,
        PrintWriter err,
        boolean inIsTerminal,
        boolean outIsTerminal,
        boolean errIsTerminal,
        IntSupplier columns) {
    private static final int DEFAULT_COLUMNS = 80;
    private static final int BUFFER_CHARS = 1 << 16;

    /** The process's own. The launcher says which of 0, 1 and 2 are terminals, as Java cannot tell them apart. */
    static Streams ofProcess() {
        Writer out = new BufferedWriter(
                new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8), BUFFER_CHARS);
        PrintWriter err = new PrintWriter(
                new OutputStreamWriter(new FileOutputStream(FileDescriptor.err), StandardCharsets.UTF_8), true);
        String terminals = Optional.ofNullable(System.getProperty("millrace.terminals"))
                .orElse(System.console() != null ? "012" : "");
        return new Streams(
                out,
                err,
                terminals.contains("0"),
                terminals.contains("1"),
                terminals.contains("2"),
                Streams::askTerminal);
    }

    Streams withColumns(IntSupplier newColumns) {
        return new Streams(out, err, inIsTerminal, outIsTerminal, errIsTerminal, newColumns);
    }

    private static int askTerminal() {
        try (Terminal terminal =
                TerminalBuilder.builder().system(true).dumb(true).build()) {
            return terminal.getWidth() > 0 ? terminal.getWidth() : DEFAULT_COLUMNS;
        } catch (IOException e) {
            return DEFAULT_COLUMNS;
        }
    }
}
