package dev.millrace.connector;

import java.util.Map;
import java.util.Set;

/**
 * A change of a {@link SourceMemory}.
 *
 * @param put bytes by name, in the place of others of these names
 * @param removed names, of which some may not be there
 */
public record MemoryChange(Map<String, byte[]> put, Set<String> removed) {
    public static final MemoryChange NONE = new MemoryChange(Map.of(), Set.of());

    public MemoryChange {
        put = Map.copyOf(put);
        removed = Set.copyOf(removed);
    }

    public boolean isEmpty() {
        return put.isEmpty() && removed.isEmpty();
    }
}
