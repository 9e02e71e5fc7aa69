package dev.millrace.server.device;

import dev.millrace.connector.MemoryChange;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.edge.stream.SettingsText;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What was set for a stream's devices, for all of them or one by one; what is set for one counts before what is set for all.
 *
 * @param number rises with each change
 */
record EdgeSettings(long number, Map<String, String> values) {
    private static final String NAME = "set";
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

    /** Those that count for a device. */
    static EdgeSettings of(Map<String, byte[]> memory, String device) {
        EdgeSettings all = kept(memory, NAME);
        EdgeSettings own = kept(memory, name(Optional.of(device)));
        Map<String, String> both = new TreeMap<>(all.values());
        both.putAll(own.values());
        return new EdgeSettings(Math.max(all.number(), own.number()), both);
    }

    /**
     * Some more, for one device or all.
     *
     * @throws dev.millrace.error.MillraceException 22023 if there is no such setting, or no such value
     */
    static MemoryChange changed(Map<String, byte[]> memory, Optional<String> device, Map<String, String> changes) {
        SketchSettings.DEFAULTS.with(changes); // are they any
        long number = 0;
        for (String name : memory.keySet()) {
            if (name.equals(NAME) || name.startsWith(NAME + " ")) {
                number = Math.max(number, kept(memory, name).number());
            }
        }
        Map<String, String> values = new TreeMap<>(kept(memory, name(device)).values());
        values.putAll(changes);
        String text = number + 1 + "\n" + SettingsText.write(values);
        return new MemoryChange(Map.of(name(device), text.getBytes(StandardCharsets.UTF_8)), Set.of());
    }

    String text() {
        return SettingsText.write(values);
    }
}
