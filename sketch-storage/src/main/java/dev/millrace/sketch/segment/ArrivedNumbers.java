package dev.millrace.sketch.segment;

import java.util.BitSet;

/** Which sequence numbers of an incarnation came: how many of all there are, and of the last ones each. Owned by one thread. */
public final class ArrivedNumbers {
    private final int window;
    private final BitSet came = new BitSet(); // by number modulo the window
    private long next; // behind the highest seen
    private long count;

    /** @param window how many numbers are looked back */
    public ArrivedNumbers(int window) {
        this.window = window;
    }

    /** Takes a number, not negative; false if it came before, or lies so far back that nobody knows. */
    public boolean add(long sequence) {
        int place = (int) (sequence % window);
        if (sequence >= next) {
            if (sequence - next >= window) {
                came.clear();
            } else {
                for (long skipped = next; skipped < sequence; skipped++) {
                    came.clear((int) (skipped % window));
                }
            }
            next = sequence + 1;
        } else if (next - sequence > window || came.get(place)) {
            return false;
        }
        came.set(place);
        count++;
        return true;
    }

    /** How many between the first number and the last one that came did not. */
    public long missing() {
        return next - count;
    }
}
