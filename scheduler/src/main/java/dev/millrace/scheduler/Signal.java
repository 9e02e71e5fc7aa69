package dev.millrace.scheduler;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Wakes threads that wait for a condition over state kept elsewhere. {@link #raise} takes no lock, so it may be called
 * with any held, and costs next to nothing when nobody waits.
 */
public final class Signal {
    private final ConcurrentLinkedQueue<Thread> waiting = new ConcurrentLinkedQueue<>();

    /** The state may have changed. */
    public void raise() {
        for (Thread thread : waiting) {
            LockSupport.unpark(thread);
        }
    }

    void enter() {
        waiting.add(Thread.currentThread());
    }

    void leave() {
        waiting.remove(Thread.currentThread());
    }
}
