package dev.millrace.sketch.file;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.segment.Versions;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** What is done to whole files of sketches, of which never more than a block is in memory. Stateless. */
public final class SketchFiles {
    private SketchFiles() {}

    /**
     * Which true times a segment may hold.
     *
     * @param lowTicks none is before
     * @param highTicks none is after
     * @param rows how many there are
     */
    public record Stretch(long lowTicks, long highTicks, int rows) {
        static Stretch of(Sketch sketch) {
            int rows = sketch.rows();
            long low = sketch.times().at(0);
            long high = sketch.times().at(rows - 1);
            if (!sketch.times().ordered()) {
                for (int row = 0; row < rows; row++) {
                    low = Math.min(low, sketch.times().at(row));
                    high = Math.max(high, sketch.times().at(row));
                }
            }
            long error = sketch.timeErrorTicks();
            return new Stretch(
                    low < Long.MIN_VALUE + error ? Long.MIN_VALUE : low - error,
                    high > Long.MAX_VALUE - error ? Long.MAX_VALUE : high + error,
                    rows);
        }

        boolean meets(long low, long high) {
            return lowTicks <= high && highTicks >= low;
        }
    }

    /**
     * Writes a file anew with some of its segments: retention by {@code stretch -> stretch.highTicks() >= limit}, deletion by its
     * opposite. What was there stays until the new file is complete on the disk.
     *
     * @return how many segments were left out
     */
    public static long keep(Path path, Predicate<Stretch> kept) {
        long[] left = {0};
        try (SketchFileReader reader = SketchFileReader.open(path)) {
            replace(
                    path,
                    reader.timestamps(),
                    writer -> reader.records(Long.MIN_VALUE, Long.MAX_VALUE, (bytes, sketch) -> {
                        if (sketch.isEmpty() || kept.test(Stretch.of(sketch.get()))) {
                            writer.add(bytes);
                        } else {
                            left[0]++;
                            writer.learn(bytes);
                        }
                    }));
        }
        return left[0];
    }

    /** What fills a file. */
    @FunctionalInterface
    interface Content {
        void writeTo(SketchFileWriter writer);
    }

    /** Puts a new file in the place of one, once it is complete on the disk. */
    static void replace(Path path, boolean timestamps, Content content) {
        Path unfinished = path.resolveSibling(path.getFileName() + ".unfinished");
        try {
            try {
                try (SketchFileWriter writer = SketchFileWriter.create(unfinished, timestamps)) {
                    content.writeTo(writer);
                }
                Files.move(unfinished, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(unfinished);
            }
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot write " + path + ": " + e.getMessage(), e);
        }
    }

    /**
     * What became of a file.
     *
     * @param segments that are in it now
     * @param droppedBytes behind them, which were no whole segment
     */
    public record Recovered(long segments, long droppedBytes) {}

    /** Makes of a file that was cut, or is damaged from some place on, one that is whole: of the segments before that place. */
    public static Recovered recover(Path path) {
        try {
            long size = Files.size(path);
            byte[] header;
            try (InputStream in = Files.newInputStream(path)) {
                header = in.readNBytes(Records.HEADER_BYTES);
            }
            boolean known =
                    header.length > 5 && Arrays.equals(Arrays.copyOf(header, Records.MAGIC.length), Records.MAGIC);
            if (known && header[4] == 1) {
                SketchFile before = SketchFile.readFirst(path, true);
                before.write(path);
                long bytes = before.records().stream()
                        .mapToLong(record -> 4L + record.length)
                        .sum();
                return new Recovered(before.records().size(), size - 6 - bytes);
            }
            if (!known || header[4] != Records.FORMAT || header.length < Records.HEADER_BYTES) {
                throw MillraceException.user(
                        SqlState.BAD_COPY_FILE_FORMAT, path + " has no beginning of a file of sketches");
            }
            return recover(path, size, header);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.IO_ERROR, "cannot recover " + path + ": " + e.getMessage(), e);
        }
    }

    private static Recovered recover(Path path, long size, byte[] header) throws IOException {
        Versions versions = new Versions();
        List<FileIndex.Block> blocks = new ArrayList<>(); // since the last index
        Records records;
        long indexAt = 0;
        boolean whole = false;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(path))) {
            in.skipNBytes(Records.HEADER_BYTES);
            records = new Records(path, in, size, Records.HEADER_BYTES, Records.checksum(header, header.length), 0);
            Optional<FileIndex.Block> open = Optional.empty();
            while (!whole) {
                Optional<Records.Entry> next;
                int chain = records.chain();
                try {
                    next = records.next();
                } catch (MillraceException e) {
                    break; // what is before is kept
                }
                whole = next.isEmpty();
                if (whole) {
                    break;
                }
                if (next.get().kind() == Records.Kind.INDEX) {
                    indexAt = next.get().at();
                    blocks.clear();
                    open = Optional.empty();
                    continue;
                }
                // Segments came in blocks, each of which begins with what it needs; here each is one from an
                // announcement on.
                long at = next.get().at();
                Optional<Sketch> sketch = SketchFileReader.learn(next.get(), versions);
                if (open.isEmpty() || open.get().segments() == SketchFileWriter.BLOCK_SEGMENTS) {
                    open.ifPresent(blocks::add);
                    open = Optional.of(new FileIndex.Block(at, at, chain, 0, 0, Long.MAX_VALUE, Long.MIN_VALUE));
                }
                FileIndex.Block block = open.get();
                long end = records.at();
                open = Optional.of(sketch.isPresent() ? SketchFileWriter.with(block, sketch.get(), end) : block);
            }
            open.filter(block -> block.segments() > 0).ifPresent(blocks::add);
        }
        if (!whole) {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                channel.truncate(records.at());
            }
            SketchFileWriter.behind(path, versions, records, indexAt, blocks).close();
        }
        return new Recovered(records.segments(), size - records.at());
    }
}
