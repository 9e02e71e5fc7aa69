package dev.millrace.connector;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a source took for granted of how its records are written, as nobody said it. The options become part of the definition, as if they
 * had been given. Immutable.
 *
 * @param options by name, in the order in which to show them
 * @param remarks sentences for whoever makes the source: what was decided without being sure
 */
public record Assumptions(Map<String, String> options, List<String> remarks) {
    public static final Assumptions NONE = new Assumptions(Map.of(), List.of());

    public Assumptions {
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
        remarks = List.copyOf(remarks);
    }
}
