package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.csv.CsvStream;
import dev.millrace.sketch.csv.CsvTable;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every file of the real sets comes back: numbers within 1 % of their range, everything else as it was. */
@Tag("long")
class RealDataTest {
    private static final int ROWS = Integer.getInteger("millrace.sketch.rows", 5_000);

    private static Optional<Path> folder() {
        String named = System.getenv("MILLRACE_DATA");
        if (named != null) {
            return Optional.of(Path.of(named)).filter(Files::isDirectory);
        }
        // Tests run in the module's folder, the data lies beside the repository.
        return Optional.of(Path.of("../../shared/data")).filter(Files::isDirectory);
    }

    @Test
    void everyFileComesBackWithinItsBound() throws IOException {
        Optional<Path> folder = folder();
        if (folder.isEmpty()) {
            System.out.println("skipped because the real sets are not there: set MILLRACE_DATA to their folder");
        }
        Assumptions.assumeTrue(folder.isPresent(), "the real sets are not there");
        List<Path> files;
        try (Stream<Path> walk = Files.walk(folder.orElseThrow())) {
            files = walk.filter(path -> path.toString().matches(".*\\.(csv|csv\\.gz|txt|txt\\.gz)")
                            && !path.toString().contains("ReadMe"))
                    .sorted()
                    .toList();
        }
        int compared = 0;
        for (Path file : files) {
            for (Binning binning : List.of(Binning.SMALLEST, Binning.EQUAL_PROBABILITY)) {
                compared += compare(file, binning);
            }
        }
        assertTrue(compared > files.size(), compared + " of " + files.size() + " files could be read");
    }

    private static int compare(Path file, Binning binning) {
        CsvStream stream;
        try {
            stream = CsvStream.of(
                    CsvTable.read(file, ROWS),
                    new CsvStream.Options(Optional.empty(), Bound.ofRange(.01), Map.of(), binning, BigDecimal.ZERO));
        } catch (MillraceException e) {
            System.out.println("skipped because it is no table: " + file.getFileName() + ": " + e.getMessage());
            return 0;
        }
        Versions versions = new Versions();
        int[] from = {0};
        StreamEncoder encoder = new StreamEncoder(stream.schema(), EncoderOptions.defaults(), segment -> {
            Sketch sketch = SegmentCodec.read(segment.bytes(), versions);
            for (int row = 0; row < sketch.rows(); row++) {
                assertEquals(stream.ticks()[from[0] + row], sketch.times().at(row));
            }
            for (int f = 0; f < stream.schema().size(); f++) {
                Column column = sketch.column(f);
                double bound = stream.schema().feature(f).bound().amount();
                int[] ranks = column.sequence().ranks();
                for (int row = 0; row < ranks.length; row++) {
                    Optional<Object> value = stream.values().get(f).get(from[0] + row);
                    String where = file.getFileName() + " feature " + f + " row " + (from[0] + row);
                    assertEquals(value.isEmpty(), ranks[row] == column.symbols().size(), where);
                    value.ifPresent(v -> check(v, column, ranks, bound, where));
                }
            }
            from[0] += sketch.rows();
        });
        stream.feed(encoder);
        encoder.flush();
        assertEquals(stream.ticks().length, from[0]);
        return 1;
    }

    private static void check(Object value, Column column, int[] ranks, double bound, String where) {
        int row = Integer.parseInt(where.substring(where.lastIndexOf(' ') + 1)) % EncoderOptions.DEFAULT_ROWS;
        int rank = ranks[row];
        if (value instanceof String text) {
            assertEquals(text, ((TextSymbols) column.symbols()).text(rank), where);
        } else if (value instanceof Boolean bool) {
            assertEquals(bool ? 1 : 0, column.numbers().whole(rank), where);
        } else if (value instanceof Long whole) {
            assertTrue(Math.abs(column.numbers().whole(rank) - whole) <= bound, where);
        } else {
            double number = (Double) value;
            double back = column.numbers().value(rank);
            assertTrue(Double.compare(number, back) == 0 || Math.abs(number - back) <= bound, where);
        }
    }
}
