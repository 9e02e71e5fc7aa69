package dev.millrace.connectors.datagen;

import dev.millrace.connector.Options;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Options as RisingWave's generator of the same name has them, in the words of this one: {@code fields.v.start} is {@code v.start}, {@code
 * datagen.rows.per.second} is {@code rate}, and a sequence with an end ends the stream ({@code rows}). Stateless.
 */
final class RisingWaveOptions {
    private static final String FIELD = "fields.";
    private static final String END = ".end";
    private static final List<String> SAME = List.of(".kind", ".start", ".min", ".max", ".length");

    private RisingWaveOptions() {}

    /** What the options say, which are read with that; others are left unread. */
    static Map<String, String> translated(Options options, long mostRows) {
        Map<String, String> ours = new LinkedHashMap<>();
        options.text("datagen.rows.per.second").ifPresent(rate -> ours.put("rate", rate));
        options.text("datagen.split.num"); // rows do not depend on who makes them
        long rows = mostRows;
        for (String name : List.copyOf(options.names())) {
            if (!name.startsWith(FIELD)) {
                continue;
            }
            if (name.endsWith(END)) {
                long end = options.integer(name, 0, -mostRows, mostRows);
                String start = name.substring(0, name.length() - END.length()) + ".start";
                rows = Math.min(rows, Math.max(0, end - options.integer(start, 0, -mostRows, mostRows) + 1));
                ours.put("rows", Long.toString(rows));
            } else if (SAME.stream().anyMatch(name::endsWith)) {
                ours.put(name.substring(FIELD.length()), options.text(name, ""));
            }
        }
        return ours;
    }
}
