package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.memory.Memory;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MarkedSetsTest {
    private static final int SETS = 40;

    /** Sparse sets, sets that become dense, and dense ones that fall behind the ids and become sparse again. */
    @ParameterizedTest
    @CsvSource({"1, 1000, 2000, 1", "2, 100, 100000, 1", "3, 200, 200000, 40", "4, 20000, 300000, 7", "5, 3, 5000, 1"})
    void setsEqualMapsWhateverTheirForm(long seed, int firstIds, int rounds, int growth) {
        SplittableRandom random = new SplittableRandom(seed);
        try (BufferAllocator allocator = new RootAllocator();
                MarkedSets sets = new MarkedSets(allocator)) {
            long[] headers = new long[SETS];
            Map<Integer, Map<Integer, Integer>> expected = new HashMap<>();
            long memory = Memory.allocate(SETS * MarkedSets.HEADER_BYTES);
            Memory.fill(memory, SETS * MarkedSets.HEADER_BYTES, (byte) 0);
            for (int i = 0; i < SETS; i++) {
                headers[i] = memory + (long) i * MarkedSets.HEADER_BYTES;
                expected.put(i, new HashMap<>());
            }
            int endOfIds = firstIds;
            for (int round = 0; round < rounds; round++) {
                int set = random.nextInt(10) < 5 ? 0 : random.nextInt(SETS);
                int id = random.nextInt(4) == 0
                        ? random.nextInt(endOfIds)
                        : Math.max(0, endOfIds - 1 - random.nextInt(90));
                int marks = 1 + random.nextInt(15);
                int before = expected.get(set).getOrDefault(id, 0);
                expected.get(set).put(id, before | marks);
                assertEquals(marks & ~before, sets.add(headers[set], id, marks, endOfIds));
                endOfIds += random.nextInt(growth);
                if (random.nextInt(5_000) == 0) {
                    sets.clear(headers[set]);
                    expected.get(set).clear();
                }
            }
            for (int i = 0; i < SETS; i++) {
                Map<Integer, Integer> found = new HashMap<>();
                MarkedSets.each(headers[i], found::put);
                assertEquals(expected.get(i), found);
                assertEquals(found.size(), MarkedSets.size(headers[i]));
            }
            Memory.free(memory);
        }
    }
}
