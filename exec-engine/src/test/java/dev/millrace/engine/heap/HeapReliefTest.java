package dev.millrace.engine.heap;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A heap of 100 MB for old objects, and queries that end when the test lets them. */
final class HeapReliefTest {
    private static final long MB = 1 << 20;

    private long collections;
    private long keptMb;
    private boolean underWay;
    private final List<Double> parts = new ArrayList<>();

    private final HeapRelief relief = new HeapRelief(
            new HeapRelief.Heap() {
                @Override
                public long collections() {
                    return collections;
                }

                @Override
                public long keptBytes() {
                    return keptMb * MB;
                }

                @Override
                public long mostBytes() {
                    return 100 * MB;
                }
            },
            new HeapRelief.Queries() {
                @Override
                public void giveWay(double part) {
                    parts.add(part);
                    underWay = true;
                }

                @Override
                public boolean areGivingWay() {
                    return underWay;
                }
            });

    private void collect(long kept) {
        collections++;
        keptMb = kept;
    }

    @Test
    void aHeapWithRoomEndsNobody() {
        for (int i = 0; i < 100; i++) {
            collect(84);
            relief.look();
        }
        assertEquals(List.of(), parts);
    }

    @Test
    void asManyEndAsTheHeapIsTooFull() {
        collect(90);
        relief.look();
        assertEquals(1, parts.size());
        assertEquals(20 / 90d, parts.get(0), 1e-9);
    }

    @Test
    void whatWasInUseBeforeTheyEndedSaysNothingAfter() {
        collect(95);
        relief.look();
        collect(95); // while they end
        relief.look();
        underWay = false; // they have; the heap was not collected since
        relief.look();
        relief.look();
        assertEquals(1, parts.size());
        collect(60);
        relief.look();
        assertEquals(1, parts.size());
    }

    @Test
    void moreEndIfThatWasNotEnough() {
        collect(95);
        relief.look();
        underWay = false;
        relief.look();
        collect(100);
        relief.look();
        assertEquals(2, parts.size());
        assertEquals(.3, parts.get(1), 1e-9);
    }

    @Test
    void nobodyEndsTwiceForOneCollection() {
        collect(95);
        for (int i = 0; i < 100; i++) {
            underWay = false;
            relief.look();
        }
        assertEquals(1, parts.size());
    }
}
