package dev.millrace.cli.operation;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Says every two seconds how long a directory has become that somebody writes, until it is closed. A thread of its own; of a directory that
 * cannot be seen it says nothing.
 */
final class CopyProgress implements AutoCloseable {
    private static final long PAUSE_SECONDS = 2;

    private final Path growing;
    private final long all;
    private final PrintStream err;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "copy-progress");

    /** @param all about how many bytes it will have; 0 if that is not known */
    CopyProgress(Path growing, long all, PrintStream err) {
        this.growing = growing;
        this.all = all;
        this.err = err;
        thread.setDaemon(true);
        thread.start();
    }

    /** The bytes of all files of a directory; 0 where it cannot be read. */
    static long bytes(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(CopyProgress::length)
                    .sum();
        } catch (IOException | UncheckedIOException e) {
            return 0;
        }
    }

    private static long length(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return 0; // removed meanwhile
        }
    }

    private void run() {
        try {
            while (!closed.await(PAUSE_SECONDS, TimeUnit.SECONDS)) {
                long bytes = bytes(growing);
                if (bytes > 0) {
                    err.println(String.format(Locale.ROOT, "%,d bytes", bytes)
                            + (all > 0 ? String.format(Locale.ROOT, " of about %,d", Math.max(all, bytes)) : ""));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
