package dev.millrace.engine.topn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BestOfBatchTest {
    private static final Schema INPUT = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("text", DataType.TEXT, true),
            new Field("small", DataType.INTEGER, true),
            new Field("nested", DataType.array(DataType.BIGINT), false));

    private static Row row(RandomGenerator random, int keys) {
        return Row.of(
                random.nextLong(keys),
                random.nextInt(4) == 0 ? null : "text " + random.nextInt(2),
                random.nextInt(4) == 0 ? null : random.nextInt(2),
                List.of(random.nextLong(2)));
    }

    /** All of a partition's rows with the least word stay, and few others: those whose slot went to another partition. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 64, 65, 1000, 4096})
    void onlyBeatenRowsAreLeftOut(int count) {
        for (List<Integer> partition : List.of(List.of(0), List.of(0, 1), List.of(2), List.<Integer>of())) {
            RandomGenerator random = new SplittableRandom(count);
            List<Row> rows = IntStream.range(0, count)
                    .mapToObj(i -> row(random, Math.max(1, count / 8)))
                    .toList();
            long[] words = random.longs(count, -5, 5).toArray();
            Map<List<Object>, Long> best = new HashMap<>();
            List<List<Object>> keys = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Row row = rows.get(i);
                List<Object> key = new ArrayList<>();
                partition.forEach(column -> key.add(row.get(column)));
                keys.add(key);
                best.merge(key, words[i], Math::min);
            }
            List<Integer> kept = find(rows, partition, 1, words);
            int least = 0;
            for (int i = 0; i < count; i++) {
                boolean isBest = words[i] == best.get(keys.get(i));
                assertTrue(!isBest || kept.contains(i), "row " + i + " of " + count + " by " + partition);
                least += isBest ? 1 : 0;
            }
            assertEquals(kept.stream().sorted().toList(), kept);
            assertTrue(
                    kept.size() - least <= count / 4, kept.size() + " of " + count + ", " + least + " by " + partition);
        }
    }

    @Test
    void allStayWherePartitionsKeepMoreRowsOrKeysAreNested() {
        RandomGenerator random = new SplittableRandom(3);
        List<Row> rows = IntStream.range(0, 100).mapToObj(i -> row(random, 3)).toList();
        long[] words = random.longs(100).toArray();
        List<Integer> all = IntStream.range(0, 100).boxed().toList();
        assertEquals(all, find(rows, List.of(0), 2, words));
        assertEquals(all, find(rows, List.of(3), 1, words));
    }

    private static List<Integer> find(List<Row> rows, List<Integer> partition, int limit, long[] words) {
        try (RootAllocator allocator = new RootAllocator();
                BestOfBatch best = new BestOfBatch(INPUT, partition, limit, allocator);
                Batch batch = TestBatches.of(INPUT, allocator, rows)) {
            int[] into = new int[rows.size()];
            int found = best.find(batch, words, into);
            return IntStream.of(into).limit(found).boxed().toList();
        }
    }
}
