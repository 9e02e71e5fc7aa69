package dev.millrace.server.settings;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What a session set of {@link PassiveSettings}, by their names. Belongs to the session's thread. */
final class PassiveValues {
    private static final int MOST = 1_000;
    private static final int LONGEST = 64 << 10; // characters

    private Map<String, String> values = new TreeMap<>();
    private Map<String, String> local = new TreeMap<>();

    /** Values as they were at some moment. */
    record Saved(Map<String, String> values, Map<String, String> local) {}

    /** The value, or the default; empty for a setting that a program made up and that is not set. */
    Optional<String> get(String name) {
        String folded = PassiveSettings.key(name);
        return Optional.ofNullable(local.getOrDefault(folded, values.get(folded)))
                .or(() -> PassiveSettings.defaultOf(folded));
    }

    void set(String name, String value, boolean forTransaction) {
        String folded = PassiveSettings.key(name);
        Map<String, String> into = forTransaction ? local : values;
        if (value.length() > LONGEST || into.size() >= MOST && !into.containsKey(folded)) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "a session keeps at most " + MOST + " settings without effect, of " + LONGEST + " characters each");
        }
        into.put(folded, value);
        if (!forTransaction) {
            local.remove(folded);
        }
    }

    void reset(String name) {
        values.remove(PassiveSettings.key(name));
        local.remove(PassiveSettings.key(name));
    }

    void resetAll() {
        values.clear();
        local.clear();
    }

    void endTransaction() {
        local.clear();
    }

    Saved save() {
        return new Saved(Map.copyOf(values), Map.copyOf(local));
    }

    void restore(Saved saved) {
        values = new TreeMap<>(saved.values);
        local = new TreeMap<>(saved.local);
    }
}
