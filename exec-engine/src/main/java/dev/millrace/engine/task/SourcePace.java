package dev.millrace.engine.task;

import dev.millrace.operator.Operator;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Sources whose rows meet by event time: none is read far ahead of another that has rows at hand, as what it brings can only be kept until the other
 * has come as far. Without it the state of a join over two topics that are read from the beginning is what the faster one is ahead, which grows.
 *
 * <pre>
 *   a source waits when where it was MOST batches ago is ahead of where another is,
 *   and goes on when where it was FEW batches ago is not ahead of any: so that it does not wait again after each batch
 * </pre>
 *
 * So the one that is furthest behind never waits, and nobody waits for one that has nothing at hand, nor for one without event time. Places are taken
 * before the first is read; each is its task's worker's, and they see of each other what is volatile.
 */
public final class SourcePace {
    private static final int MOST = 32;
    private static final int FEW = 8; // enough for each worker to be at a source of its own

    private final List<Place> places = new CopyOnWriteArrayList<>();

    /** A place for one more source. */
    Place take(Runnable wake) {
        Place place = new Place(wake);
        places.add(place);
        return place;
    }

    /** Where a source is. */
    final class Place {
        private final Runnable wake;
        private final long[] reachedBefore = new long[MOST]; // a ring
        private int batches;
        private volatile long reached = Operator.NO_WATERMARK;
        private volatile long longAgo = Operator.NO_WATERMARK; // what was reached MOST batches ago
        private volatile long shortlyAgo = Operator.NO_WATERMARK; // FEW batches ago
        private volatile boolean rests; // nobody waits for it
        private volatile boolean waits;

        private Place(Runnable wake) {
            this.wake = wake;
            Arrays.fill(reachedBefore, Operator.NO_WATERMARK);
        }

        /** Its source gave a batch, whose rows have brought it so far in event time. */
        void read(long newReached) {
            int oldest = batches++ % MOST;
            longAgo = reachedBefore[oldest];
            shortlyAgo = reachedBefore[(oldest + MOST - FEW) % MOST];
            reachedBefore[oldest] = newReached;
            reached = newReached;
            rests = batches > FEW && newReached == Operator.NO_WATERMARK;
            wakeOthers();
        }

        /** Its source has nothing at hand, or is at its end. */
        void rest() {
            if (!rests) {
                rests = true;
                wakeOthers();
            }
        }

        /** Whether its source may be read; if not, it is woken when it may. */
        boolean mayGoOn() {
            if (!waits && isAhead(longAgo)) {
                waits = true;
            }
            // asked again, as another that moved in between may not have seen that this one waits
            if (waits && !isAhead(shortlyAgo)) {
                waits = false;
            }
            return !waits;
        }

        private boolean isAhead(long from) {
            for (Place other : places) {
                if (from > other.reached && !other.rests && other != this) {
                    return true;
                }
            }
            return false;
        }

        private void wakeOthers() {
            for (Place other : places) {
                if (other.waits && !other.isAhead(other.shortlyAgo)) {
                    other.waits = false;
                    other.wake.run();
                }
            }
        }
    }
}
