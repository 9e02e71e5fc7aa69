package dev.millrace.server.device;

import dev.millrace.connector.MemoryChange;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.stream.SettingsText;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What was set for a stream's devices, for all of them or one by one; what is set for one counts before what is set for all. Where only such rows are sent
 * as queries need, what these need is among it.
 *
 * @param number rises with each change
 */
record EdgeSettings(long number, Map<String, String> values) {
    private static final String NAME = "set";
    private static final String PROGRAMS = "queries";
    private static final int MOST_TEXT =
            20_000; // characters, of three bytes each at most: a text of the protocol has 64 kB
    private static final EdgeSettings NONE = new EdgeSettings(0, Map.of());

    private static EdgeSettings kept(Map<String, byte[]> memory, String name) {
        byte[] bytes = memory.get(name);
        if (bytes == null) {
            return NONE;
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        int end = text.indexOf('\n');
        return new EdgeSettings(Long.parseLong(text.substring(0, end)), SettingsText.read(text.substring(end + 1)));
    }

    private static String name(Optional<String> device) {
        return device.map(of -> NAME + " " + of).orElse(NAME);
    }

    /**
     * Those that count for a device.
     *
     * @param makesWindows whether it knows programs of windows; else it sends the rows that these are made of
     */
    static EdgeSettings of(Map<String, byte[]> memory, String device, boolean makesWindows) {
        EdgeSettings all = kept(memory, NAME);
        EdgeSettings own = kept(memory, name(Optional.of(device)));
        Map<String, String> both = new TreeMap<>(all.values());
        both.putAll(own.values());
        EdgeSettings set = new EdgeSettings(Math.max(all.number(), own.number()), both);
        boolean onlyNeeded = SketchSettings.ONLY_NEEDED.equals(both.get(SketchSettings.ROWS));
        if (!onlyNeeded) {
            return set;
        }
        EdgeSettings programs = kept(memory, PROGRAMS);
        return set.with(makesWindows ? programs : programs.withoutWindows());
    }

    private EdgeSettings withoutWindows() {
        Map<String, String> rows = new TreeMap<>();
        values.forEach((name, value) -> {
            if (name.startsWith(SketchSettings.WINDOWS)) {
                String id = name.substring(SketchSettings.WINDOWS.length());
                rows.put(
                        SketchSettings.QUERY + id,
                        WindowProgram.parse(value).rows().text());
            } else {
                rows.put(name, value);
            }
        });
        return new EdgeSettings(number, rows);
    }

    /** The same with what queries need; if that is more than a device is told, it sends all. */
    private EdgeSettings with(EdgeSettings programs) {
        long last = Math.max(number, programs.number());
        Map<String, String> all = new TreeMap<>(values);
        all.putAll(programs.values());
        EdgeSettings both = new EdgeSettings(last, all);
        if (both.text().length() <= MOST_TEXT) {
            return both;
        }
        Map<String, String> without = new TreeMap<>(values);
        without.put(SketchSettings.ROWS, SketchSettings.ALL_ROWS);
        return new EdgeSettings(last, without);
    }

    private static long lastNumber(Map<String, byte[]> memory) {
        long number = 0;
        for (String name : memory.keySet()) {
            if (name.equals(NAME) || name.startsWith(NAME + " ") || name.equals(PROGRAMS)) {
                number = Math.max(number, kept(memory, name).number());
            }
        }
        return number;
    }

    private static MemoryChange change(String name, long number, Map<String, String> values) {
        String text = number + "\n" + SettingsText.write(values);
        return new MemoryChange(Map.of(name, text.getBytes(StandardCharsets.UTF_8)), Set.of());
    }

    /**
     * Some more, for one device or all.
     *
     * @throws MillraceException 22023 if there is no such setting, or no such value
     */
    static MemoryChange changed(Map<String, byte[]> memory, Optional<String> device, Map<String, String> changes) {
        changes.keySet().stream()
                .filter(name -> name.startsWith(SketchSettings.QUERY) || name.startsWith(SketchSettings.WINDOWS))
                .findFirst()
                .ifPresent(name -> {
                    throw MillraceException.user(
                                    SqlState.INVALID_PARAMETER_VALUE, "setting \"" + name + "\" is made of a query")
                            .withHint("CREATE CONTINUOUS QUERY .. WITH (run_at = 'edge')");
                });
        changes.forEach((name, value) -> {
            if (name.indexOf('=') >= 0 || (name + value).lines().count() > 1) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "a setting is one line, without = in its name");
            }
        });
        SketchSettings.DEFAULTS.with(changes); // are they any
        Map<String, String> values = new TreeMap<>(kept(memory, name(device)).values());
        values.putAll(changes);
        return change(name(device), lastNumber(memory) + 1, values);
    }

    /**
     * What queries need from now on; empty if it is what they needed before.
     *
     * @param programs by the queries' names
     * @param windows that devices make, by their ids
     */
    static Optional<MemoryChange> programs(
            Map<String, byte[]> memory, Map<String, String> programs, Map<String, String> windows) {
        Map<String, String> values = new TreeMap<>();
        programs.forEach((query, program) ->
                values.put(SketchSettings.QUERY + URLEncoder.encode(query, StandardCharsets.UTF_8), program));
        windows.forEach((id, program) -> values.put(SketchSettings.WINDOWS + id, program));
        return values.equals(kept(memory, PROGRAMS).values())
                ? Optional.empty()
                : Optional.of(change(PROGRAMS, lastNumber(memory) + 1, values));
    }

    String text() {
        return SettingsText.write(values);
    }
}
