package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The pages of a log: how large they are, when they go, and what is used again. */
final class RowLogPagesTest {
    private static final int PAGE = 1 << 20;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private RowLog log;

    @BeforeEach
    void open() {
        log = new RowLog(leaks.allocator());
    }

    @AfterEach
    void close() {
        log.close();
    }

    /** A row with a number at its begin and its end. */
    private long append(long number, int length, long before, long until) {
        long row = log.room(length);
        Memory.putLong(row + RowLog.HEADER, number);
        Memory.putLong(row + RowLog.HEADER + length - 8, number);
        long position = log.add(length, before, until);
        assertEquals(row, log.address(position));
        return position;
    }

    private void check(long position, long number, int length) {
        assertEquals(number, Memory.getLong(log.address(position) + RowLog.HEADER));
        assertEquals(number, Memory.getLong(log.address(position) + RowLog.HEADER + length - 8));
    }

    private void assertCounted() {
        assertEquals(leaks.allocator().getAllocatedMemory(), log.bytes());
    }

    @Test
    void anEmptyLogHasNoMemory() {
        assertEquals(0, log.bytes());
        assertEquals(0, log.size());
        assertEquals(PAGE, log.begin());
        log.forget(Long.MAX_VALUE);
        assertEquals(PAGE, log.begin());
    }

    @Test
    void rowsLieOneBehindTheOther() {
        long first = append(1, 100, 0, 1);
        long second = append(2, 50, first, 1);
        assertEquals(log.begin(), first);
        assertEquals(first + RowLog.HEADER + 100, second);
        assertEquals(first, log.before(second, log.address(second)));
        assertEquals(0, log.before(first, log.address(first)));
        assertEquals(2, log.size());
        assertEquals(4_096, log.bytes());
    }

    /** With a row of any length at the end of the page, nothing is written behind it. */
    @Test
    void aPageIsUsedToItsEndAndNoFurther() {
        for (int length = 8; length < 300; length++) {
            RowLog each = new RowLog(leaks.allocator());
            long last = 0;
            long number = 0;
            while (each.bytes() <= 4_096) {
                long row = each.room(length);
                Memory.fill(row + RowLog.HEADER, length, (byte) number++);
                last = each.add(length, last, 0);
            }
            assertEquals(number, each.size());
            assertTrue(number - 1 >= (4_096 - 8) / (length + RowLog.HEADER), "the page was used to its end");
            for (long at = last; at != 0; at = each.before(at, each.address(at))) {
                number--;
                assertEquals((byte) number, Memory.getByte(each.address(at) + RowLog.HEADER));
                assertEquals((byte) number, Memory.getByte(each.address(at) + RowLog.HEADER + length - 1));
            }
            assertEquals(0, number);
            each.close();
        }
    }

    @Test
    void pagesGrowUpToTheirLargest() {
        long last = 0;
        long before = 0;
        List<Long> pages = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            last = append(i, 2_000, last, 5);
            assertCounted();
            if (log.bytes() > before) {
                pages.add(log.bytes() - before);
                before = log.bytes();
            }
        }
        assertEquals(4_096, pages.get(0));
        assertEquals(4_096, pages.get(1));
        assertEquals(8_192, pages.get(2));
        assertEquals(PAGE, pages.get(pages.size() - 1));
        assertTrue(pages.stream().allMatch(page -> page <= PAGE));
        for (int i = 2_999; i >= 0; i--) {
            check(last, i, 2_000);
            last = log.before(last, log.address(last));
        }
        assertEquals(0, last);
    }

    /** More pages than there are bases at first, while the oldest go. */
    @Test
    void manyPagesAreTold() {
        List<Long> rows = new ArrayList<>();
        int gone = 0;
        for (int i = 0; i < 90; i++) {
            rows.add(append(i, 600_000, 0, i)); // one to a page
            if (i % 3 == 2 && i < 30) {
                log.forget(++gone);
            }
            for (int row = gone; row <= i; row++) {
                check(rows.get(row), row, 600_000);
            }
            assertEquals(i + 1 - gone, log.size());
        }
        assertEquals(10, gone);
        assertEquals(rows.get(10), log.begin());
    }

    @Test
    void aPageStaysUntilItsLastRowIsNotNeeded() {
        append(1, 8, 0, 10);
        append(2, 8, 0, 20);
        append(3, 8, 0, 15);
        log.forget(20);
        assertEquals(3, log.size());
        long first = log.begin();
        log.forget(21);
        assertEquals(0, log.size());
        assertEquals(first + PAGE, log.begin());
        assertEquals(0, log.bytes()); // it was a small one
        assertCounted();
    }

    @Test
    void whatIsGoneIsNoLongerInAChain() {
        long gone = append(1, 600_000, 0, 1);
        long stays = append(2, 600_000, gone, 5);
        assertEquals(gone, log.before(stays, log.address(stays)));
        log.forget(2);
        assertTrue(log.before(stays, log.address(stays)) < log.begin());
        long next = append(3, 600_000, gone, 5); // of which the one before is gone
        assertEquals(0, log.before(next, log.address(next)));
        long last = append(4, 8, stays, 5);
        assertEquals(stays, log.before(last, log.address(last)));
    }

    /** Eight of the largest pages are kept, those of other sizes are freed. */
    @Test
    void someLargePagesAreUsedAgain() {
        append(0, 3 * PAGE, 0, 0);
        assertEquals(RowLog.HEADER + 3 * PAGE + 8, log.bytes(), 4 << 20);
        for (int i = 0; i < 12; i++) {
            append(i, 600_000, 0, 0);
        }
        assertCounted();
        log.forget(1);
        assertEquals(0, log.size());
        assertEquals(8 * PAGE, log.bytes());
        assertCounted();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 8; i++) {
                append(i, 600_000, 0, round);
            }
            assertEquals(8 * PAGE, log.bytes());
            log.forget(round + 1);
        }
        append(1, 2 * PAGE, 0, 9); // for which none is large enough
        assertTrue(log.bytes() > 10 * PAGE);
        assertCounted();
    }

    /** Where a row begins has twenty bits: behind one that is longer no other begins on its page. */
    @Test
    void behindALongRowThereIsANewPage() {
        long first = append(1, PAGE + 100, 0, 1);
        long second = append(2, 8, first, 1);
        assertEquals(first + PAGE, second);
        check(first, 1, PAGE + 100);
        check(second, 2, 8);
        assertEquals(first, log.before(second, log.address(second)));
    }

    @Test
    void aClosedLogIsAsNewButForPositions() {
        append(1, 600_000, 0, 1);
        append(2, 600_000, 0, 1);
        log.forget(2);
        long old = append(3, 8, 0, 1);
        append(4, 8, 0, 1);
        log.close();
        assertEquals(0, log.bytes());
        assertEquals(0, log.size());
        assertCounted();
        assertTrue(old < log.begin());
        long again = append(5, 8, old, 1);
        assertEquals(log.begin(), again);
        assertEquals(0, log.before(again, log.address(again)));
        check(again, 5, 8);
        log.close();
        log.close();
    }

    /** Pages that are gone are not written, be they given back or kept for later. */
    @Test
    void aLogThatWasEmptiedBeginsOnANewPage() {
        for (int rows : new int[] {1, 3_000}) {
            for (int round = 0; round < 3; round++) {
                long last = 0;
                for (int i = 0; i < rows; i++) {
                    last = append(i, 1_000, 0, 1);
                }
                check(last, rows - 1, 1_000);
                log.forget(2);
                assertEquals(0, log.size());
                assertCounted();
                long begin = log.begin();
                long again = append(77, 1_000, 0, 1);
                assertEquals(begin, again);
                check(again, 77, 1_000);
                log.forget(2);
            }
        }
        log.close();
        assertEquals(0, leaks.allocator().getAllocatedMemory());
        log.close(); // once more
    }
}
