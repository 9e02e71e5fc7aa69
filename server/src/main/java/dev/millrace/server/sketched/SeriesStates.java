package dev.millrace.server.sketched;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** What encoders of series have learned, of the series written last: some bytes for each feature. Safe on any thread. */
final class SeriesStates {
    private static final int MOST = 10_000;

    @GuardedBy("this") private final Map<KeyBytes, byte[]> states = new LinkedHashMap<>(16, .75f, true);

    synchronized Optional<byte[]> of(KeyBytes key) {
        return Optional.ofNullable(states.get(key));
    }

    synchronized void keep(KeyBytes key, byte[] state) {
        states.put(key, state);
        if (states.size() > MOST) {
            states.remove(states.keySet().iterator().next());
        }
    }
}
