package dev.millrace.engine.join;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.testing.memory.PoisonedAllocation;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Test;

/** The rows of a batch by what becomes of them: late, without a key, or of a window each. */
class JoinSideTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("ends", DataType.TIMESTAMP, true),
            new Field("a", DataType.BIGINT, true),
            new Field("b", DataType.TEXT, true));
    private static final long WATERMARK = 100;

    private static List<Integer> first(int[] rows, int count) {
        return Arrays.stream(rows, 0, count).boxed().toList();
    }

    private static Row row(RandomGenerator random, boolean mayBeNull, int windows) {
        Object end = mayBeNull && random.nextInt(8) == 0 ? null : (Object) (WATERMARK - 1 + random.nextLong(windows));
        Object number = mayBeNull && random.nextInt(5) == 0 ? null : (Object) random.nextLong(3);
        Object text = mayBeNull && random.nextInt(5) == 0 ? null : "text";
        return TestBatches.canonical(SCHEMA, Row.of(end, number, text));
    }

    /** One side takes batches of any sizes one after the other, with few and many windows, as its rows are of windows or late or not. */
    @Test
    void rowsAreSplitByWindowAndLateAndKeylessOnesSplitOff() {
        RandomGenerator random = new SplittableRandom(1);
        try (BufferAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                JoinSide side = new JoinSide(
                        SCHEMA, new KeyLayout(JoinSide.notNull(SCHEMA), List.of(1, 2)), List.of(1, 2), allocator)) {
            for (int round = 0; round < 400; round++) {
                boolean mayBeNull = random.nextInt(3) > 0;
                int windows = 2 + random.nextInt(random.nextBoolean() ? 3 : 12);
                List<Row> rows = new ArrayList<>();
                for (int left = random.nextInt(random.nextInt(5) == 0 ? 200 : 12); left > 0; left--) {
                    rows.add(row(random, mayBeNull, windows));
                }
                boolean hasEnds = random.nextInt(3) > 0;
                boolean byWindow = hasEnds && random.nextBoolean();
                try (Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
                    side.split(batch, hasEnds ? Optional.of(0) : Optional.empty(), byWindow, WATERMARK);
                    check(side, rows, hasEnds, byWindow);
                }
            }
        }
    }

    private static void check(JoinSide side, List<Row> rows, boolean hasEnds, boolean byWindow) {
        List<Integer> late = new ArrayList<>();
        List<Integer> nulls = new ArrayList<>();
        Map<Long, List<Integer>> windows = new LinkedHashMap<>();
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            if (hasEnds && (row.get(0) == null || (Long) row.get(0) <= WATERMARK)) {
                late.add(i);
            } else if (row.get(1) == null || row.get(2) == null) {
                nulls.add(i);
            } else {
                long end = byWindow ? (Long) row.get(0) : 0;
                windows.computeIfAbsent(end, any -> new ArrayList<>()).add(i);
            }
        }
        assertEquals(late, first(side.late(), side.lateCount()));
        assertEquals(nulls, first(side.nulls(), side.nullCount()));
        Map<Long, List<Integer>> found = new LinkedHashMap<>();
        IntStream.range(0, side.groups())
                .forEach(group -> found.put(side.windowEnd(group), first(side.rows(group), side.count(group))));
        assertEquals(windows, found);
        assertEquals(windows.size(), side.groups());
    }

    @Test
    void weightsThatRowsMatchBeginAtZero() {
        try (BufferAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                JoinSide side = new JoinSide(
                        SCHEMA, new KeyLayout(JoinSide.notNull(SCHEMA), List.of(1)), List.of(1), allocator)) {
            for (int count : new int[] {0, 3, 1, 3, 100, 7}) {
                long[] matched = side.matched(count);
                for (int i = 0; i < count; i++) {
                    assertEquals(0, matched[i]);
                    matched[i] = 5;
                }
            }
        }
    }

    @Test
    void aBatchWithoutWeightsHasEachRowOnce() {
        List<Row> rows = List.of(Row.of(1L, 1L, "a"), Row.of(2L, 2L, "b"), Row.of(3L, 3L, "c"));
        try (BufferAllocator allocator = PoisonedAllocation.newRoot(1 << 24);
                JoinSide side = new JoinSide(
                        SCHEMA, new KeyLayout(JoinSide.notNull(SCHEMA), List.of(1)), List.of(1), allocator);
                Batch once = TestBatches.of(SCHEMA, allocator, rows);
                Batch weighted = TestBatches.weighted(SCHEMA, allocator, rows, new long[] {7, -1, 3})) {
            for (int row = 0; row < 3; row++) {
                assertEquals(1, side.weight(once, row));
                assertEquals(row == 0 ? 7 : row == 1 ? -1 : 3, side.weight(weighted, row));
            }
        }
    }
}
