package dev.millrace.connectors.webhook;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.SourceMemory;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The newest idempotency keys of a stream. In its memory there is each by its name, with a number (8 bytes) that grows, so that the oldest
 * are known. Safe on any thread.
 */
final class RememberedKeys {
    private static final String PREFIX = "key ";

    private final int most;

    @GuardedBy("this") private final LinkedHashSet<String> kept = new LinkedHashSet<>(); // oldest first

    @GuardedBy("this") private final Set<String> underWay = new HashSet<>();

    @GuardedBy("this") private long number;

    /** What is known of a key. */
    enum State {
        NEW,
        UNDER_WAY,
        KEPT
    }

    RememberedKeys(SourceMemory memory, int most) {
        this.most = most;
        Map<Long, String> byNumber = new TreeMap<>();
        memory.entries()
                .forEach((name, bytes) -> byNumber.put(ByteBuffer.wrap(bytes).getLong(), name));
        byNumber.forEach((each, name) -> {
            number = Math.max(number, each);
            kept.add(name.substring(PREFIX.length()));
        });
    }

    /** Begins a request with a key, if it is new. */
    synchronized State begin(String key) {
        if (underWay.contains(key)) {
            return State.UNDER_WAY;
        }
        if (kept.contains(key)) {
            return State.KEPT;
        }
        underWay.add(key);
        return State.NEW;
    }

    /** What is to be remembered with the records of a request that was begun; the oldest keys are forgotten for it. */
    synchronized MemoryChange change(String key) {
        Set<String> forgotten = new HashSet<>();
        kept.add(key); // whoever comes with it again is told that it is under way, until it is kept
        while (kept.size() > most) {
            String oldest = kept.iterator().next();
            kept.remove(oldest);
            forgotten.add(PREFIX + oldest);
        }
        byte[] bytes = ByteBuffer.allocate(Long.BYTES).putLong(++number).array();
        return new MemoryChange(Map.of(PREFIX + key, bytes), forgotten);
    }

    /** What is to be remembered where nothing of the request became a row: it may come again with the key. */
    MemoryChange forgotten(String key) {
        return new MemoryChange(Map.of(), Set.of(PREFIX + key));
    }

    /** The request is answered. */
    synchronized void end(String key) {
        underWay.remove(key);
    }

    /** It did not get in. */
    synchronized void undo(String key) {
        kept.remove(key);
        underWay.remove(key);
    }
}
