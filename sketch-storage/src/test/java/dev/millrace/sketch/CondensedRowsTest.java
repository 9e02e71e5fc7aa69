package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.condense.Condensation;
import dev.millrace.memory.Memory;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.sketch.condense.CondensedRows;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Condensed rows are the materialised ones: as many of each, but for times within their slices. */
@Tag("long")
class CondensedRowsTest {
    private static final int TRIALS = Integer.getInteger("millrace.sketch.condensed", 100);
    private static final long SEED = Long.getLong("millrace.sketch.seed", 1);

    private final BufferAllocator allocator = PooledAllocation.newRoot(1L << 28);

    @AfterEach
    void everythingIsFreed() {
        allocator.close();
    }

    @Test
    void everyCombinationOfValuesHasAsManyRowsAsMaterialised() {
        long rows = 0;
        long condensed = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            long seed = SEED + trial;
            Random random = new Random(seed);
            List<Sketch> sketches = new ArrayList<>();
            for (int s = random.nextInt(4); s >= 0; s--) {
                sketches.add(RandomStreams.make(random).sketch());
            }
            List<String> features = new ArrayList<>();
            for (String name : List.of("a", "b", "c", "n")) {
                if (random.nextBoolean()) {
                    features.add(name);
                }
            }
            boolean timed = random.nextBoolean();
            boolean keyed = random.nextBoolean();
            Condensation how = timed ? condensation(random, sketches.get(0)) : Condensation.EXACT;
            Map<List<Object>, Long> expected = materialised(sketches, features, timed, keyed, how);
            Map<List<Object>, Long> actual = new TreeMap<>(BY_TEXT);
            condensed += collect(sketches, features, timed, keyed, how, 1 + random.nextInt(2000), actual);
            assertEquals(expected, actual, () -> "with -Dmillrace.sketch.seed=" + seed);
            rows += expected.values().stream().mapToLong(Long::longValue).sum();
        }
        assertTrue(condensed < rows / 2, condensed + " of " + rows + " rows");
    }

    private static final Comparator<List<Object>> BY_TEXT = Comparator.comparing(List::toString);

    private static Condensation condensation(Random random, Sketch sketch) {
        long slice = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(1_000_000);
        List<Long> cuts = new ArrayList<>();
        for (int c = random.nextInt(3); c > 0; c--) {
            cuts.add(sketch.times().at(random.nextInt(sketch.rows())) + random.nextInt(2));
        }
        return new Condensation(
                OptionalInt.of(7),
                slice,
                slice == 0 ? 0 : random.nextInt((int) slice),
                cuts.stream().sorted().toList());
    }

    private Map<List<Object>, Long> materialised(
            List<Sketch> sketches, List<String> features, boolean timed, boolean keyed, Condensation how) {
        Map<List<Object>, Long> rows = new TreeMap<>(BY_TEXT);
        for (int s = 0; s < sketches.size(); s++) {
            try (Batch batch = Materialisation.all().batch(sketches.get(s), allocator)) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    List<Object> values = new ArrayList<>();
                    for (String feature : features) {
                        values.add(value(batch.column(batch.schema().indexOf(feature)), row));
                    }
                    if (timed) {
                        values.add(how.end(time(batch.column(0), row)));
                    }
                    if (keyed) {
                        values.add("key " + s);
                    }
                    rows.merge(values, 1L, Long::sum);
                }
            }
        }
        return rows;
    }

    /** How many rows came. */
    private long collect(
            List<Sketch> sketches,
            List<String> features,
            boolean timed,
            boolean keyed,
            Condensation how,
            int batchRows,
            Map<List<Object>, Long> into) {
        List<Field> fields = new ArrayList<>();
        List<CondensedRows.Column> columns = new ArrayList<>();
        for (String feature : features) {
            fields.add(new Field(
                    feature,
                    sketches.get(0)
                            .schema()
                            .feature(sketches.get(0).schema().indexOf(feature))
                            .type(),
                    true));
            columns.add(new CondensedRows.Column.OfFeature(feature));
        }
        if (timed) {
            fields.add(new Field("at", DataType.TIMESTAMP, false));
            columns.add(new CondensedRows.Column.OfTime());
        }
        if (keyed) {
            fields.add(new Field("k", DataType.TEXT, true));
            columns.add(new CondensedRows.Column.OfKey(0));
        }
        long rows = 0;
        try (Batch keys = keys(sketches.size());
                CondensedRows condensed = new CondensedRows(new Schema(fields), columns, how, batchRows, allocator)) {
            for (int s = 0; s < sketches.size(); s++) {
                condensed.add(sketches.get(s), keys, s);
                while (condensed.isFull()) {
                    rows += take(condensed.take(), timed ? features.size() : -1, how, batchRows, into);
                }
            }
            rows += take(condensed.take(), timed ? features.size() : -1, how, batchRows, into);
            assertTrue(condensed.take().isEmpty());
        }
        return rows;
    }

    private static long take(
            Optional<Batch> taken, int timeColumn, Condensation how, int batchRows, Map<List<Object>, Long> into) {
        if (taken.isEmpty()) {
            return 0;
        }
        try (Batch batch = taken.get()) {
            assertTrue(batch.rowCount() <= batchRows);
            for (int row = 0; row < batch.rowCount(); row++) {
                List<Object> values = new ArrayList<>();
                for (int column = 0; column < batch.schema().size(); column++) {
                    FieldVector vector = batch.column(column);
                    values.add(column == timeColumn ? how.end(time(vector, row)) : value(vector, row));
                }
                into.merge(values, Memory.getLong(batch.weightsAddress() + 8L * row), Long::sum);
            }
            return batch.rowCount();
        }
    }

    private static long time(FieldVector vector, int row) {
        return Memory.getLong(vector.getDataBufferAddress() + 8L * row);
    }

    private static Object value(FieldVector vector, int row) {
        return vector.isNull(row) ? "NULL" : vector.getObject(row).toString();
    }

    private Batch keys(int count) {
        Field field = new Field("k", DataType.TEXT, true);
        VarCharVector vector = new VarCharVector("k", allocator);
        vector.allocateNew();
        for (int i = 0; i < count; i++) {
            vector.setSafe(i, ("key " + i).getBytes(StandardCharsets.UTF_8));
        }
        vector.setValueCount(count);
        return Batch.of(Schema.of(field), new FieldVector[] {vector}, count);
    }

    @Test
    void rowsAreAlikeUpToTheEndOfTheirSliceOrTheNextCut() {
        Condensation how = new Condensation(OptionalInt.of(0), 10, 3, List.of(5L, 20L));
        assertEquals(3, how.end(2));
        assertEquals(5, how.end(3));
        assertEquals(13, how.end(5));
        assertEquals(20, how.end(19));
        assertEquals(23, how.end(20));
        assertEquals(-7, how.end(-8));
        assertEquals(Long.MAX_VALUE, how.end(Long.MAX_VALUE - 1));
        assertEquals(Long.MIN_VALUE + 1, how.end(Long.MIN_VALUE));
        Condensation cutsOnly = new Condensation(OptionalInt.of(0), 0, 0, List.of(5L));
        assertEquals(5, cutsOnly.end(Long.MIN_VALUE));
        assertEquals(Long.MAX_VALUE, cutsOnly.end(5));
    }

    @Test
    void timesWithoutBeingToldBetweenWhichAreRefused() {
        Schema schema = Schema.of(new Field("at", DataType.TIMESTAMP, false));
        List<CondensedRows.Column> columns = List.of(new CondensedRows.Column.OfTime());
        assertThrows(
                IllegalArgumentException.class,
                () -> new CondensedRows(schema, columns, Condensation.EXACT, 10, allocator));
    }
}
