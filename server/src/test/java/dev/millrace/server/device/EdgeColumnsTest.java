package dev.millrace.server.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** How far values of a device's segment may be off is beside them, and they are not further off. */
class EdgeColumnsTest {
    private static final Schema DECLARED = Schema.of(
            new Field("time", DataType.BIGINT, true),
            new Field("temp", DataType.DOUBLE, true),
            new Field("load", DataType.BIGINT, true),
            new Field("force", DataType.DOUBLE, true), // a REAL at the device
            new Field("other", DataType.DOUBLE, true),
            new Field("temp_off", DataType.DOUBLE, false),
            new Field("load_off", DataType.DOUBLE, false),
            new Field("force_off", DataType.DOUBLE, false),
            new Field("other_off", DataType.DOUBLE, false));
    private static final EdgeColumns COLUMNS =
            new EdgeColumns(DECLARED, Optional.empty(), Map.of(5, 1, 6, 2, 7, 3, 8, 4));

    @Test
    void valuesAreWithinTheErrorsBesideThem() {
        SketchSchema sketched = SketchSchema.of(
                Feature.number("temp", Bound.absolute(.3)),
                Feature.whole("load", Bound.absolute(4)),
                new Feature("force", DataType.REAL, Bound.absolute(1e-6), Binning.SMALLEST));
        Random random = new Random(20261129);
        List<double[]> came = new ArrayList<>();
        List<Sketch> sketches = new ArrayList<>();
        Versions versions = new Versions();
        StreamEncoder encoder = new StreamEncoder(
                sketched,
                EncoderOptions.defaults().withSegmentRows(500),
                segment -> sketches.add(SegmentCodec.read(segment.bytes(), versions)));
        for (int i = 0; i < 2000; i++) {
            double[] row = {random.nextGaussian() * 20, random.nextInt(500), (float) (random.nextDouble() * 100)};
            encoder.row(i * 1000L).number(0, row[0]).whole(1, (long) row[1]).number(2, row[2]);
            came.add(row);
        }
        encoder.flush();
        double[] furthest = new double[3];
        int at = 0;
        try (BufferAllocator allocator = new RootAllocator()) {
            for (Sketch sketch : sketches) {
                try (Batch batch = columns(sketch).batch(sketch, "d", allocator)) {
                    for (Row row : TestBatches.rows(batch)) {
                        for (int column = 0; column < furthest.length; column++) {
                            double off = Math.abs(((Number) row.get(1 + column)).doubleValue() - came.get(at)[column]);
                            double error = (double) row.get(5 + column);
                            assertTrue(
                                    off <= error, DECLARED.field(1 + column) + " is off by " + off + ", not " + error);
                            furthest[column] = Math.max(furthest[column], off / error);
                        }
                        assertEquals(0.0, row.get(8), "of a column that the device does not have");
                        at++;
                    }
                }
            }
            assertEquals(0, allocator.getAllocatedMemory());
        }
        assertEquals(came.size(), at);
        assertTrue(
                furthest[0] > .9 && furthest[1] > .7, furthest[0] + " and " + furthest[1] + ": errors could be less");
    }

    /** With a time as the device has it. */
    private static EdgeColumns columns(Sketch sketch) {
        List<Field> fields = new ArrayList<>(DECLARED.fields());
        fields.set(0, new Field(sketch.schema().timeName(), DataType.TIMESTAMP, true));
        return new EdgeColumns(new Schema(fields), COLUMNS.device(), COLUMNS.errors());
    }
}
