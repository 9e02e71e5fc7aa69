package dev.millrace.engine.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LookupsTest {
    private final AtomicLong current = new AtomicLong(5);
    private final Lookups lookups = new Lookups();

    @BeforeEach
    void open() {
        lookups.open();
    }

    @Test
    void theOldestVersionIsThatOfTheLookupsUnderWayOrTheCurrentOne() {
        assertEquals(5, lookups.oldest(5));
        int first = lookups.begin(current::get);
        current.set(7);
        int second = lookups.begin(current::get);
        assertEquals(5, lookups.version(first));
        assertEquals(7, lookups.version(second));
        assertEquals(5, lookups.oldest(7));
        lookups.end(first);
        assertEquals(7, lookups.oldest(8));
        assertFalse(lookups.isEmpty());
        lookups.end(second);
        assertEquals(8, lookups.oldest(8));
        assertTrue(lookups.isEmpty());
    }

    @Test
    void aVersionThatIsNotCurrentAnyMoreWhenItIsHeldIsNotSeen() {
        int[] asked = new int[1];
        int cell =
                lookups.begin(() -> ++asked[0] < 4 ? asked[0] : 4); // changes between looking and holding, three times
        assertEquals(4, lookups.version(cell));
        assertEquals(4, lookups.oldest(9));
    }

    @Test
    void theVersionBeforeAnyIsHeldToo() {
        current.set(0);
        int cell = lookups.begin(current::get);
        assertEquals(0, lookups.oldest(3));
        lookups.end(cell);
        assertEquals(3, lookups.oldest(3));
    }

    @Test
    void thoseThatWereMarkedHaveEndedThoughOthersBeginAllTheTime() {
        int first = lookups.begin(current::get);
        lookups.mark();
        int second = lookups.begin(current::get);
        assertFalse(lookups.haveEnded());
        lookups.end(first);
        int third = lookups.begin(current::get); // in the same cell
        assertEquals(first, third);
        assertTrue(lookups.haveEnded());
        lookups.mark();
        lookups.end(third);
        assertFalse(lookups.haveEnded());
        lookups.end(second);
        assertTrue(lookups.haveEnded());
    }

    @Test
    void whoIsOneTooManyIsToldSo() {
        List<Integer> cells = new ArrayList<>();
        for (int cell = lookups.begin(current::get); cell != Lookups.NONE; cell = lookups.begin(current::get)) {
            cells.add(cell);
        }
        assertEquals(16, cells.stream().distinct().count());
        assertEquals(16, cells.size());
        lookups.end(cells.get(3));
        assertNotEquals(Lookups.NONE, lookups.begin(current::get));
    }
}
