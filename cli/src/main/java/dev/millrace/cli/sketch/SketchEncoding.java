package dev.millrace.cli.sketch;

import dev.millrace.error.MillraceException;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.csv.CsvStream;
import dev.millrace.sketch.csv.CsvTable;
import dev.millrace.sketch.file.SketchFile;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.StreamEncoder;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** {@code sketch encode}: a CSV file into a file of segments, which is read back and compared before it is reported. */
final class SketchEncoding {
    private final EncodeOptions options;
    private final PrintStream out;

    SketchEncoding(EncodeOptions options, PrintStream out) {
        this.options = options;
        this.out = out;
    }

    void encode(Path path) throws IOException {
        CsvTable table = CsvTable.read(path, options.rows());
        CsvStream stream = CsvStream.of(table, options.csv());
        List<byte[]> segments = new ArrayList<>();
        StreamEncoder encoder =
                new StreamEncoder(stream.schema(), options.encoder(), segment -> segments.add(segment.bytes()));
        stream.feed(encoder);
        encoder.flush();
        List<FeatureError> errors = verify(stream, segments);
        Path target = options.output().isEmpty() ? beside(path) : Path.of(options.output());
        new SketchFile(stream.timestamps(), segments).write(target);
        report(path, target, table, stream, segments, errors);
        if (!options.picture().isEmpty()) {
            Files.write(Path.of(options.picture()), BinPicture.draw(stream, encoder));
        }
    }

    private static Path beside(Path path) {
        String name = path.getFileName().toString().replaceFirst("(\\.csv)?(\\.gz)?$", "");
        return path.resolveSibling(name + ".sketch");
    }

    /** What was lost of one feature. */
    private static final class FeatureError {
        double largest;
        double squares;
        long numbers;
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        long symbols;

        void add(double value, double back) {
            double miss = Math.abs(back - value);
            largest = Math.max(largest, miss);
            squares += miss * miss;
            numbers++;
            low = Math.min(low, value);
            high = Math.max(high, value);
        }

        double normalised() {
            return numbers == 0 || high <= low ? 0 : Math.sqrt(squares / numbers) / (high - low);
        }
    }

    private static List<FeatureError> verify(CsvStream stream, List<byte[]> segments) {
        SketchSchema schema = stream.schema();
        List<FeatureError> errors = new ArrayList<>();
        schema.features().forEach(feature -> errors.add(new FeatureError()));
        Versions versions = new Versions();
        int from = 0;
        for (byte[] segment : segments) {
            Sketch sketch = SegmentCodec.read(segment, versions);
            for (int row = 0; row < sketch.rows(); row++) {
                long miss = Math.abs(sketch.times().at(row) - stream.ticks()[from + row]);
                hold(miss <= schema.timeBoundTicks(), schema.timeName(), from + row);
            }
            for (int f = 0; f < schema.size(); f++) {
                Column column = sketch.column(f);
                errors.get(f).symbols += column.symbols().size();
                int[] ranks = column.sequence().ranks();
                for (int row = 0; row < ranks.length; row++) {
                    Optional<Object> value = stream.values().get(f).get(from + row);
                    boolean same = value.isEmpty()
                                    == (ranks[row] == column.symbols().size())
                            && (value.isEmpty()
                                    || within(schema.feature(f), value.get(), column, ranks[row], errors.get(f)));
                    hold(same, schema.feature(f).name(), from + row);
                }
            }
            from += sketch.rows();
        }
        hold(from == stream.ticks().length, "the number of rows", from);
        return errors;
    }

    private static void hold(boolean holds, String what, int row) {
        if (!holds) {
            throw MillraceException.internal(what + " did not come back within its bound in row " + (row + 1));
        }
    }

    private static boolean within(Feature feature, Object value, Column column, int rank, FeatureError error) {
        if (value instanceof String text) {
            return ((TextSymbols) column.symbols()).text(rank).equals(text);
        }
        if (value instanceof Boolean bool) {
            return column.numbers().whole(rank) == (bool ? 1 : 0);
        }
        if (value instanceof Long whole) {
            long back = column.numbers().whole(rank);
            error.add(whole, back);
            return Math.abs(back - whole) <= feature.bound().amount();
        }
        double number = (Double) value;
        double back = column.numbers().value(rank);
        if (Double.isFinite(number)) {
            error.add(number, back);
        }
        return Double.compare(number, back) == 0
                || Math.abs(number - back) <= feature.bound().amount();
    }

    private void report(
            Path path, Path target, CsvTable table, CsvStream stream, List<byte[]> segments, List<FeatureError> errors)
            throws IOException {
        long bytes = Files.size(target);
        long raw = 8L * table.rows() * (1 + stream.schema().size());
        out.printf(
                Locale.ROOT,
                "%s: %,d observations in %,d segments, %,d bytes (%.3f per observation), %.1f times smaller than raw%n",
                target,
                table.rows(),
                segments.size(),
                bytes,
                bytes / (double) table.rows(),
                raw / (double) bytes);
        for (String name : stream.unreadTimes()) {
            out.printf("%s: %s looks like times, in a form that is not known; it is kept as text%n", path, name);
        }
        if (table.skipped() > 0) {
            out.printf(
                    Locale.ROOT, "%s: %,d lines with another number of fields were left out%n", path, table.skipped());
        }
        out.printf(
                Locale.ROOT,
                "%-24s %-18s %12s %12s %10s %12s%n",
                "feature",
                "type",
                "bound",
                "largest",
                "NRMSE",
                "symbols");
        for (int f = 0; f < errors.size(); f++) {
            Feature feature = stream.schema().feature(f);
            FeatureError error = errors.get(f);
            double symbols = error.symbols / (double) segments.size();
            boolean kept = symbols > options.encoder().segmentRows() / 2.0;
            out.printf(
                    Locale.ROOT,
                    "%-24s %-18s %12s %12.5g %9.3f%% %12.1f%s%n",
                    feature.name(),
                    feature.type(),
                    feature.bound(),
                    error.largest,
                    100 * error.normalised(),
                    symbols,
                    kept ? "  nearly all distinct: stored one by one" : "");
        }
    }
}
