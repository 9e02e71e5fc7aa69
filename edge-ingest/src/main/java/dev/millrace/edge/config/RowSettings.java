package dev.millrace.edge.config;

import dev.millrace.edge.program.RowProgram;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which rows leave the device, of those that are taken.
 *
 * @param onlyNeeded those alone that queries need which run at the edge; else all
 * @param queries what these need, by their names, whether it matters or not
 */
public record RowSettings(boolean onlyNeeded, Map<String, RowProgram> queries) {
    static final RowSettings ALL = new RowSettings(false, Map.of());

    public RowSettings {
        queries = Map.copyOf(queries);
    }

    RowSettings onlyNeeded(boolean only) {
        return new RowSettings(only, queries);
    }

    RowSettings withQuery(String name, RowProgram program) {
        Map<String, RowProgram> all = new TreeMap<>(queries);
        all.put(name, program);
        return new RowSettings(onlyNeeded, all);
    }
}
