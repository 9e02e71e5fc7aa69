package dev.millrace.capture;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What Debezium finds where it would look for its files: the offset to begin with, and records of tables' definitions. Debezium makes those who
 * ask by the names of their classes, so they find their run by a key in its properties. Safe on any thread.
 */
final class RunState implements AutoCloseable {
    /** The property that has the key. */
    static final String KEY = "millrace.run";

    private static final Map<String, RunState> RUNNING = new ConcurrentHashMap<>();
    private static final AtomicLong KEYS = new AtomicLong();

    private final String key = Long.toString(KEYS.incrementAndGet());
    private final byte[] offset;

    @GuardedBy("this") private final List<byte[]> definitions;

    private RunState(CapturedPosition from) {
        this.offset = from.offset();
        this.definitions = new ArrayList<>(from.definitions());
    }

    /** One that is found by its key until it is closed. */
    static RunState begin(CapturedPosition from) {
        RunState state = new RunState(from);
        RUNNING.put(state.key, state);
        return state;
    }

    static RunState of(String key) {
        return Optional.ofNullable(RUNNING.get(key))
                .orElseThrow(() -> new IllegalStateException("run " + key + " has ended"));
    }

    String key() {
        return key;
    }

    /** Where the run began; empty for the beginning. */
    byte[] offset() {
        return offset.clone();
    }

    synchronized void record(byte[] definition) {
        definitions.add(definition);
    }

    synchronized List<byte[]> definitions() {
        return List.copyOf(definitions);
    }

    @Override
    public void close() {
        RUNNING.remove(key);
    }
}
