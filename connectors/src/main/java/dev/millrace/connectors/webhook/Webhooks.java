package dev.millrace.connectors.webhook;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The webhooks of one database, by their paths. Safe on any thread. */
public final class Webhooks {
    private final Map<String, Webhook> byPath = new ConcurrentHashMap<>();

    /** The one of a path, without what all begin with. */
    public Optional<Webhook> at(String path) {
        return Optional.ofNullable(byPath.get(path));
    }

    void add(String path, Webhook webhook) {
        if (byPath.putIfAbsent(path, webhook) != null) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_OBJECT, "path \"" + path + "\" is another stream's already");
        }
    }

    void remove(String path, Webhook webhook) {
        byPath.remove(path, webhook);
    }
}
