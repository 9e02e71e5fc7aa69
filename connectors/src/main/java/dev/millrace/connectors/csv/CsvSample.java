package dev.millrace.connectors.csv;

import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.text.Utf8;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Stretches of whole lines of one file: its beginning, and of a large plain file some from its middle and its end, since columns change
 * their looks late. Owned by one thread.
 */
final class CsvSample implements AutoCloseable {
    private static final int STRETCHES = 6; // behind the beginning
    private static final int LEAST_STRETCH_BYTES = 4 << 10;

    private final Path file;
    private final List<ByteWindow> stretches = new ArrayList<>();
    private boolean isWhole; // the beginning is all there is
    private Encoding encoding = Encoding.UTF_8;

    private CsvSample(Path file) {
        this.file = file;
    }

    /**
     * Reads at most so many bytes of a file; what comes before a damaged part is enough, if there is any.
     *
     * @throws MillraceException if nothing can be read
     */
    static CsvSample read(Path file, Encoding encoding, int mostBytes, BufferAllocator allocator) {
        CsvSample sample = new CsvSample(file);
        try {
            long size = Files.size(file);
            boolean hasMore =
                    size > mostBytes && !FileInput.isPacked(file) && mostBytes / 2 / STRETCHES >= LEAST_STRETCH_BYTES;
            sample.stretch(encoding, 0, hasMore ? mostBytes / 2 : mostBytes, allocator);
            for (int i = 1; hasMore && i <= STRETCHES; i++) {
                int bytes = mostBytes / 2 / STRETCHES;
                long from = (size - bytes) / STRETCHES * i;
                sample.stretch(encoding, from - from % 2, bytes, allocator);
            }
            return sample;
        } catch (IOException e) {
            sample.close();
            throw FileErrors.opening(file, "for reading", e);
        } catch (RuntimeException | Error e) {
            sample.close();
            throw e;
        }
    }

    private void stretch(Encoding assumed, long from, int bytes, BufferAllocator allocator) {
        Interrupt.checkCurrent();
        ByteWindow window = new ByteWindow(allocator, bytes);
        stretches.add(window);
        boolean isDamaged = false;
        try (FileInput input = FileInput.open(file, assumed, from, Long.MAX_VALUE)) {
            encoding = input.encoding();
            try {
                window.fill(input, bytes);
            } catch (MillraceException e) {
                if (window.length() == 0) {
                    throw e;
                }
                isDamaged = true;
            }
            encoding = input.encoding();
        }
        boolean isEnd = window.isDry() && !isDamaged;
        if (from == 0) {
            isWhole = isEnd;
        } else {
            int at = 0;
            while (at < window.end() && Memory.getByte(window.address() + at) != '\n') {
                at++;
            }
            window.consumeTo(Math.min(window.end(), at + 1));
        }
    }

    Path file() {
        return file;
    }

    /** How it was read: as was asked, or as a mark at the file's beginning says. */
    Encoding encoding() {
        return encoding;
    }

    /** Whether the beginning is the whole file. */
    boolean isWhole() {
        return isWhole;
    }

    /** Whether its lines are UTF-8. */
    boolean isUtf8() {
        return stretches.stream().allMatch(window -> Utf8.isValid(address(window), wholeLines(window)));
    }

    /** Whether it has bytes that are control characters in Latin-1, and others in windows-1252; of a file that was read as UTF-8. */
    boolean hasWindowsBytes() {
        for (ByteWindow window : stretches) {
            for (long at = address(window); at < address(window) + window.length(); at++) {
                int b = Memory.getByte(at) & 0xff;
                if (b >= 0x80 && b < 0xa0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether it has anything but ASCII. */
    boolean isPlain() {
        return stretches.stream().allMatch(window -> Utf8.isPlain(address(window), window.length()));
    }

    private static long address(ByteWindow window) {
        return window.address() + window.start();
    }

    private static int wholeLines(ByteWindow window) {
        int end = window.end();
        while (end > window.start() && Memory.getByte(window.address() + end - 1) != '\n') {
            end--;
        }
        return end == window.start() ? window.length() : end - window.start();
    }

    /** A record and the line that it begins in, from 1 in the file's beginning. */
    record Line(RecordText.Split split, long number) {
        List<String> fields() {
            return split.fields();
        }
    }

    /** The first records of the file's beginning, comments and empty lines left out. */
    List<Line> beginning(CsvDialect dialect, int most) {
        List<Line> lines = new ArrayList<>();
        each(0, dialect, line -> {
            lines.add(line);
            return lines.size() < most;
        });
        return lines;
    }

    /** How many stretches there are, the file's beginning being the first. */
    int stretches() {
        return stretches.size();
    }

    /** Hands the records of a stretch on, comments and empty lines left out, until one is not wanted. */
    void each(int stretch, CsvDialect dialect, Predicate<Line> wanted) {
        ByteWindow window = stretches.get(stretch);
        long base = window.address();
        int at = window.start();
        if (window.length() >= 3 && (Memory.getInt(base + at) & 0xffffff) == 0xbfbbef) {
            at += 3;
        }
        long line = 1;
        for (int skip = stretch == 0 ? dialect.skipLines() : 0; skip > 0 && at < window.end(); skip--) {
            while (at < window.end() && Memory.getByte(base + at) != '\n') {
                at++;
            }
            at = Math.min(window.end(), at + 1);
            line++;
        }
        for (int records = 0; at < window.end(); records++) {
            Interrupt.checkSometimes(records);
            boolean isComment = dialect.comment() != 0 && Memory.getByte(base + at) == dialect.comment();
            boolean isOpen =
                    isComment || Memory.getByte(base + at) == '#' && hasOpenQuote(base, at, window.end(), dialect);
            RecordText.Split record =
                    RecordText.split(base, at, window.end(), isOpen ? dialect.withoutQuotes() : dialect);
            boolean isEmpty =
                    record.fields().size() == 1 && record.fields().get(0).isEmpty();
            boolean isCut = !record.complete() && !(stretch == 0 && isWhole);
            at = record.end();
            if (!isComment && !isEmpty && !isCut && !wanted.test(new Line(record, line))) {
                return;
            }
            line += record.lines();
        }
    }

    private static boolean hasOpenQuote(long base, int from, int to, CsvDialect dialect) {
        boolean isOpen = false;
        for (int at = from; at < to && Memory.getByte(base + at) != '\n'; at++) {
            isOpen ^= dialect.quote() != 0 && Memory.getByte(base + at) == dialect.quote();
        }
        return isOpen;
    }

    @Override
    public void close() {
        stretches.forEach(ByteWindow::close);
    }
}
