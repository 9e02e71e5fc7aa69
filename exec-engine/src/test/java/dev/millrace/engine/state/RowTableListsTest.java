package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Lists of rows that are bytes: a number, and as many more bytes as its last digit says. */
final class RowTableListsTest {
    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private StateMemory memory; // of lists and of rows that come
    private RowTable table;
    private long row;

    @BeforeEach
    void open() {
        memory = new StateMemory(leaks.allocator());
        table = new RowTable(leaks.allocator());
        row = memory.allocate(32);
    }

    @AfterEach
    void close() {
        table.close();
        memory.close();
    }

    private long newList() {
        long list = memory.allocate(RowTable.LIST_BYTES);
        RowTable.initList(list);
        return list;
    }

    private int write(long number) {
        Memory.fill(row, 32, (byte) 0);
        Memory.putLong(row, number);
        return 8 + (int) (number % 10);
    }

    private long add(long list, long number, long weight) {
        return table.add(list, row, write(number), weight);
    }

    private long append(long list, long number, long weight) {
        return table.append(list, row, write(number), weight);
    }

    private static Map<Long, Long> weights(long list) {
        Map<Long, Long> weights = new LinkedHashMap<>();
        for (long row = RowTable.first(list); row != 0; row = RowTable.next(row)) {
            assertEquals(list, RowTable.list(row));
            assertEquals(8 + Memory.getLong(row) % 10, RowTable.length(row));
            weights.put(Memory.getLong(row), RowTable.weight(row));
        }
        return weights;
    }

    @Test
    void rowsStayInOrderOfArrivalWhateverGoesBetweenAndHoweverManyThereAre() {
        SplittableRandom random = new SplittableRandom(7);
        long[] lists = {newList(), newList(), newList()};
        List<Map<Long, Long>> expected = List.of(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        for (int round = 0; round < 3_000; round++) {
            int which = random.nextInt(3);
            long number = random.nextInt(round < 1_500 ? 1_000 : 60);
            long weight = random.nextInt(5) - 2;
            if (weight == 0) {
                continue;
            }
            long sum = expected.get(which).getOrDefault(number, 0L) + weight;
            if (sum == 0) {
                expected.get(which).remove(number);
            } else {
                expected.get(which).put(number, sum);
            }
            assertEquals(sum, add(lists[which], number, weight));
        }
        int size = 0;
        for (int which = 0; which < 3; which++) {
            assertEquals(
                    List.copyOf(expected.get(which).entrySet()),
                    List.copyOf(weights(lists[which]).entrySet()));
            size += expected.get(which).size();
        }
        assertTrue(size > 700);
        assertEquals(size, table.size());
        assertEquals(leaks.allocator().getAllocatedMemory() - memory.bytes(), table.bytes());
        for (long list : lists) {
            for (long number : List.copyOf(weights(list).keySet())) {
                assertEquals(0, add(list, number, -weights(list).get(number)));
            }
            assertEquals(0, RowTable.first(list));
        }
        assertEquals(0, table.size());
    }

    @Test
    void anEmptyTableHasNoMemory() {
        assertEquals(0, table.bytes());
        table.clear();
        assertEquals(0, table.bytes());
        add(newList(), 1, 1);
        assertEquals(leaks.allocator().getAllocatedMemory() - memory.bytes(), table.bytes());
    }

    @Test
    void theHashIsOfTheListAndOfAllBytes() {
        int length = write(8);
        long hash = RowTable.hash(1, row, length);
        assertNotEquals(hash, RowTable.hash(2, row, length));
        assertNotEquals(hash, RowTable.hash(1, row, length - 1));
        Memory.putByte(row + length - 1, (byte) 1);
        assertNotEquals(hash, RowTable.hash(1, row, length));
    }

    /** Appended, a row is not looked for until its list is indexed: the one that was added since may be right behind it. */
    @Test
    void indexingMakesOneOfEqualRowsAndNoneOfThoseThatAddUpToNothing() {
        long list = newList();
        append(list, 1, 1);
        add(list, 1, -1);
        append(list, 2, 1);
        append(list, 3, 1);
        append(list, 2, 2);
        add(list, 4, 1);
        append(list, 4, 5);
        append(list, 5, -1);
        append(list, 5, 1);
        append(list, 6, 1);
        assertEquals(10, table.size());
        table.index(list);
        assertEquals(Map.of(2L, 3L, 3L, 1L, 4L, 6L, 6L, 1L), weights(list));
        assertEquals(4, table.size());
        table.index(list); // nothing is left to be done
        assertEquals(Map.of(2L, 3L, 3L, 1L, 4L, 6L, 6L, 1L), weights(list));
        for (long number : new long[] {2, 3, 4, 6}) {
            assertEquals(7, add(list, number, 7 - weights(list).get(number)));
        }
        assertEquals(4, table.size());
    }

    @Test
    void appendedRowsGoWithoutBeingIndexed() {
        long list = newList();
        long first = append(list, 1, 1);
        long second = append(list, 1, 1);
        assertNotEquals(first, second);
        table.removeRow(first);
        assertEquals(second, RowTable.first(list));
        table.removeRow(second);
        assertEquals(0, RowTable.first(list));
        assertEquals(0, table.size());
    }

    @Test
    void aRowIsAloneIfNoneIsBeforeOrBehindIt() {
        long list = newList();
        long first = append(list, 1, 1);
        assertTrue(RowTable.isAlone(first));
        long second = append(list, 2, 1);
        long third = append(list, 3, 1);
        assertFalse(RowTable.isAlone(first));
        assertFalse(RowTable.isAlone(second));
        assertFalse(RowTable.isAlone(third));
        table.removeRow(second);
        assertEquals(third, RowTable.next(first));
        table.removeRow(first);
        assertTrue(RowTable.isAlone(third));
    }

    @Test
    void whoWatchesSeesEachRowBeforeItGoes() {
        List<Long> gone = new ArrayList<>();
        table.watch(leaving -> gone.add(Memory.getLong(leaving)));
        long list = newList();
        add(list, 1, 1);
        append(list, 2, 1);
        append(list, 3, 1);
        add(list, 4, 2);
        add(list, 4, -1);
        assertEquals(List.of(), gone);
        add(list, 1, -1);
        table.removeRow(RowTable.first(list));
        assertEquals(List.of(1L, 2L), gone);
        table.clear(list);
        assertEquals(List.of(1L, 2L, 3L, 4L), gone);
        add(list, 5, 1);
        table.clear();
        assertEquals(List.of(1L, 2L, 3L, 4L), gone);
    }

    @Test
    void anAddedRowIsReturnedWhereItIs() {
        long list = newList();
        long added = table.addRow(list, row, write(14), 2);
        assertEquals(14, Memory.getLong(added));
        assertEquals(0, RowTable.note(added));
        RowTable.setNote(added, 77);
        assertEquals(added, table.addRow(list, row, write(14), 1));
        assertEquals(77, RowTable.note(added));
        assertEquals(3, RowTable.weight(added));
        assertEquals(0, table.addRow(list, row, write(14), -3));
    }

    @Test
    void rowsAreCollectedInPieces() {
        long list = newList();
        long[] rows = new long[3];
        assertEquals(0, RowTable.collect(RowTable.first(list), rows));
        for (int i = 1; i <= 5; i++) {
            append(list, i, 1);
        }
        List<Long> numbers = new ArrayList<>();
        for (long from = RowTable.first(list); from != 0; ) {
            int count = RowTable.collect(from, rows);
            for (int i = 0; i < count; i++) {
                numbers.add(Memory.getLong(rows[i]));
            }
            from = RowTable.next(rows[count - 1]);
        }
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L), numbers);
    }

    /** Of the same rows in the same list at the same addresses, so that whatever is left in the index would be taken for them. */
    @Test
    void aTableIsUsedAgainAfterAllWent() {
        for (int first = 0; first < 1_000; first += 31) {
            long list = newList();
            long bytes = 0;
            for (int round = 0; round < 3; round++) {
                RowTable.initList(list);
                for (int i = first; i < first + 31; i++) {
                    assertEquals(1, add(list, i, 1));
                }
                assertEquals(31, table.size());
                assertEquals(round == 0 ? table.bytes() : bytes, table.bytes());
                bytes = table.bytes();
                table.clear();
                assertEquals(0, table.size());
                RowTable.initList(list);
                append(list, 5, 1);
                table.clear(); // of rows of which none is indexed
            }
        }
        assertEquals(leaks.allocator().getAllocatedMemory() - memory.bytes(), table.bytes());
    }

    @Test
    void rowsThatGoMakeRoomForOthers() {
        long list = newList();
        add(list, 9, 1);
        long bytes = table.bytes();
        for (int i = 0; i < 1_000; i++) {
            add(list, i * 10 + 3, 1);
            add(list, i * 10 + 3, -1);
            append(list, 5, 1);
            table.removeRow(RowTable.next(RowTable.first(list)));
        }
        assertEquals(bytes, table.bytes());
    }

    private byte[] written(long list) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        table.writeList(list, new DataOutputStream(out));
        return out.toByteArray();
    }

    private void read(long list, byte[] bytes, boolean merging) throws IOException {
        table.readList(list, new DataInputStream(new ByteArrayInputStream(bytes)), merging);
    }

    @Test
    void aListThatWasWrittenIsReadAsItWas() throws IOException {
        long list = newList();
        RowTable.setNote(append(list, 11, 3), 9);
        add(list, 25, -2);
        byte[] bytes = written(list);
        for (boolean merging : new boolean[] {false, true}) {
            long other = newList();
            read(other, bytes, merging);
            assertEquals(
                    List.copyOf(weights(list).entrySet()),
                    List.copyOf(weights(other).entrySet()));
            assertEquals(9, RowTable.note(RowTable.first(other)));
            assertEquals(0, RowTable.note(RowTable.next(RowTable.first(other))));
            assertEquals(merging ? -1 : 1, add(other, 25, 1));
        }
    }

    @Test
    void whatIsReadIntoRowsThatAddUpToNothingIsGone() throws IOException {
        long list = newList();
        add(list, 1, 1);
        add(list, 2, 1);
        byte[] bytes = written(list);
        long other = newList();
        add(other, 1, -1);
        add(other, 2, 1);
        read(other, bytes, true);
        assertEquals(Map.of(2L, 2L), weights(other));
        assertEquals(3, table.size());
    }

    @Test
    void aListThatIsCutOffLeavesNothingBehindButItsRows() throws IOException {
        long list = newList();
        append(list, 1, 1);
        append(list, 2, 1);
        byte[] bytes = written(list);
        long other = newList();
        assertThrows(IOException.class, () -> read(other, Arrays.copyOf(bytes, bytes.length - 1), false));
        assertEquals(Map.of(1L, 1L), weights(other));
        assertEquals(leaks.allocator().getAllocatedMemory() - memory.bytes(), table.bytes());
    }

    @Test
    void readingTakesRoomForOneRowMore() throws IOException {
        long list = newList();
        for (int i = 0; i < 2_000; i++) {
            append(list, i, 1);
        }
        byte[] bytes = written(list);
        table.clear();
        try (BufferAllocator little = leaks.allocator().newChildAllocator("little", 0, 1 << 30);
                RowTable other = new RowTable(little)) {
            long copy = newList();
            other.readList(copy, new DataInputStream(new ByteArrayInputStream(bytes)), false);
            assertEquals(2_000, other.size());
            assertTrue(little.getPeakMemoryAllocation() <= other.bytes() + (4 << 10));
            other.close();
        }
    }

    @Test
    void aTableIsClosedTwice() {
        add(newList(), 1, 1);
        table.close();
        assertEquals(0, table.size());
        assertEquals(0, table.bytes());
        table.clear();
        table.close();
        assertEquals(1, add(newList(), 1, 1)); // it is as new
    }
}
