package dev.millrace.engine.epoch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/** A value that is reached only by who holds its lock, for as long as that lasts. Safe on any thread, and reentrant. */
final class Locked<T> {
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock") private final T value;

    Locked(T value) {
        this.value = value;
    }

    /** What {@code action} makes of the value, which it must not give away. */
    <R> R get(Function<? super T, ? extends R> action) {
        lock.lock();
        try {
            return action.apply(value);
        } finally {
            lock.unlock();
        }
    }

    void run(Consumer<? super T> action) {
        lock.lock();
        try {
            action.accept(value);
        } finally {
            lock.unlock();
        }
    }

    boolean isHeldByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }
}
