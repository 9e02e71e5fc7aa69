package dev.millrace.engine.window;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SliceRowsTest {
    private static final Schema TIMES = Schema.of(new Field("ts", DataType.TIMESTAMP, true));

    /** Slices by their ends, and last the late rows under {@code Long.MIN_VALUE}. */
    private static Map<Long, List<Integer>> split(SliceRows rows, long watermark, boolean byEnd, Long... times) {
        try (RootAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                Batch batch = TestBatches.of(
                        TIMES, allocator, Arrays.stream(times).map(Row::of).toList())) {
            if (byEnd) {
                rows.splitBySliceEnd(batch, 0, watermark);
            } else {
                rows.split(batch, 0, watermark);
            }
            Map<Long, List<Integer>> result = new TreeMap<>();
            for (int i = 0; i < rows.slices(); i++) {
                result.put(rows.end(i), list(rows.rows(i), rows.count(i)));
            }
            if (rows.lateCount() > 0) {
                result.put(Long.MIN_VALUE, list(rows.late(), rows.lateCount()));
            }
            return result;
        }
    }

    private static List<Integer> list(int[] rows, int count) {
        return Arrays.stream(rows, 0, count).boxed().toList();
    }

    private static Long[] times(long... times) {
        return Arrays.stream(times).boxed().toArray(Long[]::new);
    }

    @Test
    void aBatchOfOneSliceIsNotSplit() {
        SliceRows rows = new SliceRows(Slicing.of(new WindowSpec.Tumble(10)));
        assertEquals(Map.of(10L, List.of(0, 1, 2)), split(rows, 9, false, times(0, 9, 4)));
        assertEquals(Map.of(0L, List.of(0, 1)), split(rows, Operator.NO_WATERMARK, false, times(-10, -1)));
        assertEquals(Map.of(), split(rows, 9, false));
    }

    @Test
    void rowsAreLateFromTheEndOfTheirLastWindowOn() {
        SliceRows tumbling = new SliceRows(Slicing.of(new WindowSpec.Tumble(10)));
        assertEquals(Map.of(Long.MIN_VALUE, List.of(0, 1)), split(tumbling, 10, false, times(0, 9)));
        assertEquals(Map.of(Long.MIN_VALUE, List.of(0), 20L, List.of(1)), split(tumbling, 10, false, times(9, 10)));
        assertEquals(Map.of(10L, List.of(0), 20L, List.of(1)), split(tumbling, 9, false, times(9, 10)));
        SliceRows hopping = new SliceRows(Slicing.of(new WindowSpec.Hop(5, 10)));
        assertEquals(Map.of(5L, List.of(0), 10L, List.of(1)), split(hopping, 9, false, times(0, 5)));
        assertEquals(Map.of(Long.MIN_VALUE, List.of(0), 10L, List.of(1)), split(hopping, 10, false, times(0, 5)));
    }

    @Test
    void rowsWithoutATimeAreLateAndThoseBetweenWindowsBelongNowhere() {
        SliceRows gaps = new SliceRows(Slicing.of(new WindowSpec.Hop(6, 4)));
        assertEquals(
                Map.of(Long.MIN_VALUE, List.of(1), 2L, List.of(0), 4L, List.of(3)),
                split(gaps, Operator.NO_WATERMARK, false, 1L, null, 4L, 3L, 5L));
        assertEquals(Map.of(), split(gaps, 0, false, times(4, 5))); // one slice, of no window
        assertEquals(Map.of(Long.MIN_VALUE, List.of(0)), split(gaps, 0, false, new Long[] {null}));
        // what lies in the place of a NULL is of the same slice as the others
        SliceRows rows = new SliceRows(Slicing.of(new WindowSpec.Tumble(100_000)));
        assertEquals(
                Map.of(Long.MIN_VALUE, List.of(1), 100_000L, List.of(0, 2)),
                split(rows, 0, false, 77_000L, null, 78_000L));
    }

    @Test
    void rowsOfASliceStayTogetherHoweverTheyAlternate() {
        SliceRows rows = new SliceRows(Slicing.of(new WindowSpec.Tumble(10)));
        assertEquals(
                Map.of(10L, List.of(0, 2, 5), 20L, List.of(1, 3), 30L, List.of(4)),
                split(rows, 0, false, times(0, 10, 9, 19, 20, 5)));
        // the next batch finds nothing of the last one
        assertEquals(Map.of(40L, List.of(1), 50L, List.of(0, 2)), split(rows, 0, false, times(40, 39, 49)));
    }

    /** Slices of all sizes beside each other, batch after batch with what the ones before gave back. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void slicesHaveTheirRowsWhateverTheirSizes(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        SliceRows rows = new SliceRows(Slicing.of(new WindowSpec.Tumble(10)));
        for (int batch = 0; batch < 20; batch++) {
            int count = random.nextInt(1, 5_000);
            int slices = random.nextInt(1, 400);
            Map<Long, List<Integer>> expected = new TreeMap<>();
            List<Long> times = new ArrayList<>();
            for (int row = 0; row < count; row++) {
                long slice = random.nextInt(1 + random.nextInt(slices)); // the first have most
                times.add(10 * slice + random.nextInt(10));
                long end = slice < 2 ? Long.MIN_VALUE : 10 * slice + 10; // those are late
                expected.computeIfAbsent(end, any -> new ArrayList<>()).add(row);
            }
            assertEquals(expected, split(rows, 20, false, times.toArray(Long[]::new)), "batch " + batch);
            rows.end();
            assertEquals(0, rows.slices());
        }
    }

    @Test
    void thereMayBeManySlices() {
        SliceRows rows = new SliceRows(Slicing.of(new WindowSpec.Tumble(10)));
        for (int slices : new int[] {3, 15, 16, 17, 100, 1_000}) {
            Map<Long, List<Integer>> expected = new TreeMap<>();
            List<Long> times = new ArrayList<>();
            for (int row = 0; row < 3 * slices; row++) {
                long slice = row * 7L % slices;
                times.add(10 * slice + row % 10);
                expected.computeIfAbsent(10 * slice + 10, end -> new ArrayList<>())
                        .add(row);
            }
            assertEquals(expected, split(rows, 0, false, times.toArray(Long[]::new)), slices + " slices");
        }
        assertEquals(Map.of(10L, List.of(0), 20L, List.of(1)), split(rows, 0, false, times(0, 10)));
    }

    @Test
    void aFirstPhaseGivesTheEndsOfSlices() {
        SliceRows rows = new SliceRows(Slicing.of(new WindowSpec.Hop(5, 10)));
        assertEquals(
                Map.of(Long.MIN_VALUE, List.of(0), 10L, List.of(1, 3), 15L, List.of(2)),
                split(rows, 10, true, times(5, 10, 15, 10)));
        assertEquals(Map.of(), split(rows, 10, true));
        SliceRows given = new SliceRows(Slicing.of(new WindowSpec.Attached(0, 0)));
        assertEquals(
                Map.of(Long.MIN_VALUE, List.of(0), 11L, List.of(1), 12L, List.of(2)),
                split(given, 10, false, times(10, 11, 12)));
        assertEquals(Map.of(11L, List.of(0, 1)), split(given, 10, false, times(11, 11)));
    }
}
