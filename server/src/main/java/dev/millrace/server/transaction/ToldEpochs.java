package dev.millrace.server.transaction;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.epoch.Accepted;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongPredicate;

/**
 * The epochs of a table's rows, as far as somebody may have been told that these are there: from when the entry of the journal is on disk that a client
 * waits for, of those with rows of one epoch the first. Whoever reads the table then waits until it shows them, which it mostly does already. Any thread.
 */
final class ToldEpochs {
    private static final int MOST = 64;

    @GuardedBy("this") private final Deque<Accepted> written = new ArrayDeque<>(); // of each epoch the first entry; the oldest first

    @GuardedBy("this") private long told;

    private volatile long newest;
    private volatile long shown; // epochs up to this one are shown by the table

    synchronized void add(Accepted accepted) {
        Accepted last = written.peekLast();
        if (last != null && last.epoch() >= accepted.epoch()) {
            written.pollLast();
            written.addLast(new Accepted(last.epoch(), Math.min(last.entry(), accepted.entry())));
            return;
        }
        written.addLast(accepted);
        newest = Math.max(newest, accepted.epoch());
        if (written.size() > MOST) { // who reads meanwhile may wait for more than was told
            long entry = written.removeFirst().entry();
            long epoch = written.removeFirst().epoch();
            written.addFirst(new Accepted(epoch, entry));
        }
    }

    /** The last epoch that somebody may have been told of and that is not known to be shown; 0 if there is none. */
    long last(LongPredicate isOnDisk) {
        if (newest <= shown) {
            return 0;
        }
        synchronized (this) {
            while (!written.isEmpty() && isOnDisk.test(written.getFirst().entry())) {
                told = written.removeFirst().epoch();
            }
            return told > shown ? told : 0;
        }
    }

    /** The table shows all up to an epoch that was told. */
    synchronized void isShown(long epoch) {
        shown = Math.max(shown, epoch);
    }
}
