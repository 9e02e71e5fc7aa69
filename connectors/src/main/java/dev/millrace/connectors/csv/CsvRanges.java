package dev.millrace.connectors.csv;

import dev.millrace.connector.SourceContext;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.memory.Memory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Splits a large plain file into ranges of whole lines, so that several readers share it. One pass over the bytes counts
 * lines, so that each range knows its first, and looks for quotes: where there is one, a line end may be inside a value,
 * and the file stays whole.
 */
final class CsvRanges {
    /** Smaller files are not worth a second reader. */
    static final long SMALLEST_RANGE_BYTES = 8L << 20;

    private static final int BLOCK_BYTES = 256 << 10;
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = 0x8080808080808080L;
    private static final long LOW_BITS = 0x7f7f7f7f7f7f7f7fL;

    private CsvRanges() {}

    static List<CsvSegment> of(
            Path file, List<CsvColumn> columns, CsvDialect dialect, int parallelism, int files, SourceContext context) {
        CsvSegment whole = CsvSegment.whole(file);
        int count = (int) Math.min(Math.max(1, parallelism / files), whole.bytes() / SMALLEST_RANGE_BYTES);
        if (count < 2 || FileInput.isPacked(file)) {
            return List.of(whole);
        }
        try (ByteWindow window = new ByteWindow(context.allocator(), BLOCK_BYTES)) {
            Optional<CsvLayout> layout = layout(file, columns, dialect, window);
            return layout.isEmpty() ? List.of(whole) : split(whole, layout.get(), dialect, count, window);
        }
    }

    private static Optional<CsvLayout> layout(
            Path file, List<CsvColumn> columns, CsvDialect dialect, ByteWindow window) {
        try (FileInput input = FileInput.open(file, dialect.encoding())) {
            if (!input.encoding().hasLineBytes()) {
                return Optional.empty();
            }
            window.fill(input, BLOCK_BYTES);
            return CsvLayout.read(window, false, dialect, columns, input).map(CsvLayout.Start::layout);
        }
    }

    private static List<CsvSegment> split(
            CsvSegment whole, CsvLayout layout, CsvDialect dialect, int count, ByteWindow window) {
        long rangeBytes = whole.bytes() / count;
        List<CsvSegment> ranges = new ArrayList<>();
        long from = 0;
        long fromLine = 1;
        long line = 1;
        long position = 0; // of the window's start
        window.clear();
        // The bytes of the file count here, not its characters.
        try (FileInput input = FileInput.open(whole.file(), Encoding.UTF_8)) {
            while (true) {
                window.fill(input, BLOCK_BYTES);
                int length = window.length();
                if (length == 0) {
                    break;
                }
                long base = window.address() + window.start();
                if (dialect.quote() != 0 && count(base, length, dialect.quote()) > 0) {
                    return List.of(whole);
                }
                long target = from + rangeBytes;
                boolean endsHere = ranges.size() < count - 1 && position + length > target;
                int at = endsHere ? lineEnd(base, (int) Math.max(0, target - position), length) : -1;
                if (at >= 0) {
                    line += count(base, at, (byte) '\n');
                    ranges.add(range(whole, layout, from, position + at, fromLine));
                    from = position + at;
                    fromLine = line;
                    window.consumeTo(window.start() + at);
                    position += at;
                } else {
                    line += count(base, length, (byte) '\n');
                    window.consumeTo(window.end());
                    position += length;
                }
            }
        }
        ranges.add(range(whole, layout, from, Long.MAX_VALUE, fromLine));
        return ranges;
    }

    private static CsvSegment range(CsvSegment whole, CsvLayout layout, long from, long to, long firstLine) {
        Optional<CsvLayout> known = from == 0 ? Optional.empty() : Optional.of(layout);
        long bytes = Math.min(to, whole.bytes()) - from;
        return new CsvSegment(whole.file(), from, to, firstLine, known, bytes);
    }

    /** Behind the first line end from {@code from} on, or -1. */
    private static int lineEnd(long base, int from, int length) {
        for (int at = from; at < length; at++) {
            if (Memory.getByte(base + at) == '\n') {
                return at + 1;
            }
        }
        return -1;
    }

    static int count(long base, int length, byte wanted) {
        long pattern = (wanted & 0xffL) * ONES;
        int found = 0;
        int at = 0;
        for (; at + 8 <= length; at += 8) {
            long x = Memory.getLong(base + at) ^ pattern;
            found += Long.bitCount(~(((x & LOW_BITS) + LOW_BITS) | x) & HIGH_BITS);
        }
        for (; at < length; at++) {
            found += Memory.getByte(base + at) == wanted ? 1 : 0;
        }
        return found;
    }
}
