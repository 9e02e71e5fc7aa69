package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sets of small numbers of each form and size, and many at once. */
final class MarkedSetsFormsTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private MarkedSets sets;
    private StateMemory headers;

    @BeforeEach
    void open() {
        sets = new MarkedSets(leaks.allocator());
        headers = new StateMemory(leaks.allocator());
    }

    @AfterEach
    void close() {
        sets.close();
        headers.close();
    }

    private long newSet() {
        long header = headers.allocate(MarkedSets.HEADER_BYTES);
        Memory.fill(header, MarkedSets.HEADER_BYTES, (byte) 0);
        return header;
    }

    private static Map<Integer, Integer> ids(long header) {
        Map<Integer, Integer> ids = new TreeMap<>();
        MarkedSets.each(header, (id, marks) -> assertEquals(null, ids.put(id, marks)));
        int[] copied = new int[MarkedSets.size(header) + 1];
        assertEquals(MarkedSets.size(header), MarkedSets.copy(header, copied));
        assertEquals(0, copied[MarkedSets.size(header)]);
        Map<Integer, Integer> same = new TreeMap<>();
        for (int i = 0; i < MarkedSets.size(header); i++) {
            same.put(copied[i] >>> MarkedSets.MARKS, copied[i] & 15);
        }
        assertEquals(ids, same);
        assertEquals(ids.size(), MarkedSets.size(header));
        return ids;
    }

    /** Up to dense, with every size between, and by ids that lie apart. */
    @Test
    void aSetOfEachSizeHasItsIds() {
        for (int apart : new int[] {1, 7, 1_000}) {
            int end = 300 * apart;
            long set = newSet();
            assertEquals(Map.of(), ids(set));
            Map<Integer, Integer> expected = new TreeMap<>();
            for (int i = 0; i < 300; i++) {
                int id = (i * 101 % 300) * apart;
                int marks = 1 + i % 15;
                assertEquals(marks, sets.add(set, id, marks, end));
                assertEquals(0, sets.add(set, id, marks, end));
                assertEquals(15 & ~marks, sets.add(set, id, 15, end));
                expected.put(id, 15);
                assertEquals(expected, ids(set));
            }
            sets.clear(set);
            assertEquals(Map.of(), ids(set));
            assertEquals(0, Memory.getLong(set));
            assertEquals(0, Memory.getLong(set + 8));
            sets.clear(set);
        }
    }

    /** A dense set of few ids, when ids come that are far behind: it becomes sparse, or denser, and keeps what it has. */
    @Test
    void aDenseSetFallsBehindTheIds() {
        for (int size : new int[] {1, 3, 5, 6, 12, 24, 48, 96}) {
            for (int end : new int[] {128, 200, 1_000, 100_000}) {
                long set = newSet();
                Map<Integer, Integer> expected = new TreeMap<>();
                for (int id = 0; id < size; id++) {
                    sets.add(set, id, 1, size + 1);
                    expected.put(id, 1);
                }
                assertEquals(2, sets.add(set, end - 1, 2, end));
                expected.put(end - 1, 2);
                assertEquals(expected, ids(set));
                for (int id = size; id < size + 20; id++) {
                    assertEquals(4, sets.add(set, id, 4, end));
                    expected.put(id, 4);
                }
                assertEquals(expected, ids(set));
                sets.clear(set);
            }
        }
    }

    @Test
    void theGreatestIdIsKept() {
        long set = newSet();
        for (int i = 1; i <= 100; i++) {
            assertEquals(8, sets.add(set, MarkedSets.MOST_IDS - i, 8, MarkedSets.MOST_IDS));
        }
        assertEquals(100, ids(set).size());
        assertTrue(ids(set).containsKey(MarkedSets.MOST_IDS - 1));
    }

    @Test
    void manyAreAddedAtOnceAndTellWhatWasNew() {
        int count = 200; // some go together, in three portions
        long block = headers.allocate(count * 40);
        Memory.fill(block, count * 40, (byte) 0);
        long[] owners = new long[count];
        int[] ids = new int[count];
        int[] marks = new int[count];
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < count; i++) {
                owners[i] = block + 40L * (i / 2);
                ids[i] = round / 2 * 50 + i % 2;
                marks[i] = 1 + round % 2;
            }
            sets.add(owners, 24, ids, marks, count - 1, 1_000);
            for (int i = 0; i < count - 1; i++) {
                assertEquals(1 + round % 2, marks[i]);
            }
        }
        marks[0] = 7;
        sets.add(owners, 24, ids, marks, 1, 1_000);
        assertEquals(4, marks[0]);
        for (int set = 0; set < count / 2; set++) {
            assertEquals(set == count / 2 - 1 ? 10 : 20, MarkedSets.size(block + 40L * set + 24));
        }
    }

    @Test
    void setsThatAreClearedMakeRoomForOthers() {
        long set = newSet();
        long bytes = 0;
        for (int round = 0; round < 50; round++) {
            for (int id = 0; id < 2_000; id++) {
                sets.add(set, id * 50, 1, 100_000);
            }
            assertEquals(round == 0 ? sets.bytes() : bytes, sets.bytes());
            bytes = sets.bytes();
            sets.clear(set);
        }
        assertEquals(leaks.allocator().getAllocatedMemory() - headers.bytes(), sets.bytes());
        long[] many = new long[100];
        Arrays.setAll(many, i -> newSet());
        for (int round = 0; round < 20; round++) {
            for (long each : many) {
                Memory.fill(each, MarkedSets.HEADER_BYTES, (byte) 0);
                for (int id = 0; id < 40; id++) {
                    sets.add(each, id * 50, 1, 100_000);
                }
            }
            assertEquals(round == 0 ? sets.bytes() : bytes, sets.bytes());
            bytes = sets.bytes();
            sets.reset();
        }
    }

    @Test
    void setsThatStaySmallTakeTheSameMemoryAfterAReset() {
        long[] many = new long[20_000];
        Arrays.setAll(many, i -> newSet());
        long bytes = 0;
        for (int round = 0; round < 4; round++) {
            for (long each : many) {
                Memory.fill(each, MarkedSets.HEADER_BYTES, (byte) 0);
                for (int id = 0; id < 3; id++) {
                    sets.add(each, id * 50, 1, 100_000);
                }
            }
            assertEquals(round == 0 ? sets.bytes() : bytes, sets.bytes());
            bytes = sets.bytes();
            sets.reset();
        }
    }
}
