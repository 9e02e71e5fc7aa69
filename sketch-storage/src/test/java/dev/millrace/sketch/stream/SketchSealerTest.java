package dev.millrace.sketch.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.time.Times;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What is sealed says of each value what was known of it. */
class SketchSealerTest {
    private static final int ROWS = 600;
    private static final double BOUND = 19;

    /** Values of all sizes take fewer bits one by one than in bins: but the bits of a bin's middle are not what was measured. */
    @Test
    void valuesInBinsAreNotExactBecauseOthersAre() {
        Random random = new Random(1);
        long[] bins = LongStream.rangeClosed(-5, 5).toArray();
        double[] exact = random.doubles(ROWS / 2)
                .map(value -> (value + 1) * Math.pow(10, random.nextInt(300) - 150))
                .sorted()
                .toArray();
        NumberSymbols numbers = new NumberSymbols(new Scale.Grid(BOUND), BOUND, bins, exact);
        int[] ranks = new int[ROWS]; // each exact value for a while, then bins
        Arrays.setAll(ranks, row -> row < ROWS * 3 / 4 ? bins.length + row / 2 : row / 50 % bins.length);
        Column column = Column.of(numbers, Sequence.ofRanks(ranks));
        SketchSchema schema = SketchSchema.of(Feature.number("a", Bound.absolute(BOUND)));
        Sketch sketch =
                new Sketch(schema, new Times.Regular(ROWS, 0, 1000, 0, 0), 0, List.of(column), Optional.empty());
        for (Keep keep : Keep.values()) {
            byte[] sealed = SketchSealer.seal(sketch, keep).get(0);
            Column read = SegmentCodec.read(sealed, new Versions()).column(0);
            for (int row = 0; row < ROWS; row++) {
                int rank = read.sequence().ranks()[row];
                assertEquals(numbers.value(ranks[row]), read.numbers().value(rank));
                if (ranks[row] < bins.length) {
                    assertEquals(BOUND, read.numbers().error(rank), keep + ", row " + row);
                }
            }
        }
    }
}
