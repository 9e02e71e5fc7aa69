package dev.millrace.edge.config;

import dev.millrace.edge.program.RowProgram;
import dev.millrace.edge.program.WindowProgram;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which rows leave the device, of those that are taken, and as what.
 *
 * @param onlyNeeded those alone that queries need which run at the edge; else all
 * @param queries what these need, by their names, whether it matters or not
 * @param windows those of queries that are made here, by the queries' ids, whether it matters or not
 */
public record RowSettings(boolean onlyNeeded, Map<String, RowProgram> queries, Map<String, WindowProgram> windows) {
    static final RowSettings ALL = new RowSettings(false, Map.of(), Map.of());

    public RowSettings {
        queries = Map.copyOf(queries);
        windows = Map.copyOf(windows);
    }

    /** The windows that are made, in the order of their ids; none where all rows are sent. */
    public List<WindowProgram> made() {
        return onlyNeeded ? List.copyOf(new TreeMap<>(windows).values()) : List.of();
    }

    RowSettings onlyNeeded(boolean only) {
        return new RowSettings(only, queries, windows);
    }

    RowSettings withQuery(String name, RowProgram program) {
        Map<String, RowProgram> all = new TreeMap<>(queries);
        all.put(name, program);
        return new RowSettings(onlyNeeded, all, windows);
    }

    RowSettings withWindows(WindowProgram program) {
        Map<String, WindowProgram> all = new TreeMap<>(windows);
        all.put(program.id(), program);
        return new RowSettings(onlyNeeded, queries, all);
    }
}
