package dev.millrace.server.instance;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Queries in whose place others come: which stand still while that is done, and why it is not done yet. Safe on any thread. */
public final class Replacements {
    private final Set<String> still = ConcurrentHashMap.newKeySet(); // queries whose last rows others are reading
    private final Map<String, String> refused =
            new ConcurrentHashMap<>(); // why, by the names of those that are to come

    /** A query stands still from now on. */
    public void begins(String query) {
        still.add(query);
    }

    /** Its name is that of one that has all rows, or it goes on. */
    public void ended(String query) {
        still.remove(query);
    }

    /** Whether one of some queries stands still: for who was told of rows that it has not. */
    public boolean isUnderWay(Collection<String> queries) {
        return !still.isEmpty() && queries.stream().anyMatch(still::contains);
    }

    /** One did not come in the place of another, for now. @return whether that is news */
    public boolean refused(String replacement, String why) {
        return !why.equals(refused.put(replacement, why));
    }

    /** Why it did not. */
    public Optional<String> whyRefused(String replacement) {
        return Optional.ofNullable(refused.get(replacement));
    }

    /** It is gone, or has come. */
    public void forget(String replacement) {
        refused.remove(replacement);
    }
}
