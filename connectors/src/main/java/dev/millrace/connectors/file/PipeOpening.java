package dev.millrace.connectors.file;

import dev.millrace.connectors.input.FileErrors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Opens named pipes for writing. That blocks until somebody reads them, deaf to interrupts, so that a thread of its own does it: who
 * waits for it can be interrupted.
 */
final class PipeOpening {
    private PipeOpening() {}

    static boolean isPipe(Path path) {
        try {
            int mode = (Integer) Files.getAttribute(path, "unix:mode");
            return (mode & 0170000) == 0010000;
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return false; // not a system that has them
        }
    }

    /**
     * Waits until somebody reads the pipe.
     *
     * @throws MillraceException if it cannot be opened, or the thread is interrupted
     */
    static FileChannel open(Path path) {
        CompletableFuture<FileChannel> opened = new CompletableFuture<>();
        Thread opener = new Thread(() -> complete(path, opened), "millrace-pipe");
        opener.setDaemon(true);
        opener.start();
        try {
            return opened.get();
        } catch (InterruptedException e) {
            letGo(path, opened);
            throw MillraceException.external(
                    SqlState.IO_ERROR, "nobody reads the pipe \"" + path + "\": gave up waiting", e);
        } catch (ExecutionException e) {
            throw (MillraceException) e.getCause();
        }
    }

    private static void complete(Path path, CompletableFuture<FileChannel> opened) {
        try {
            FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE);
            if (!opened.complete(channel)) {
                channel.close(); // nobody waits any more
            }
        } catch (IOException e) {
            opened.completeExceptionally(FileErrors.opening(path, "for writing", e));
        }
    }

    /** Has the opener come back: for a moment there is a reader. */
    private static void letGo(Path path, CompletableFuture<FileChannel> opened) {
        opened.cancel(false);
        try {
            FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
                    .close(); // does not block
        } catch (IOException e) {
            return; // it is gone: the opener finds out by itself, or stays, and holds nothing
        }
    }
}
