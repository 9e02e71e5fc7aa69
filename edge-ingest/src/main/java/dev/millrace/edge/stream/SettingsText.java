package dev.millrace.edge.stream;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Settings as text, one a line: {@code sketch.error=1%}. */
public final class SettingsText {
    private SettingsText() {}

    public static String write(Map<String, String> settings) {
        StringBuilder text = new StringBuilder();
        new TreeMap<>(settings)
                .forEach((name, value) ->
                        text.append(name).append('=').append(value).append('\n'));
        return text.toString();
    }

    static Optional<Map<String, String>> read(Optional<String> text) {
        return text.map(SettingsText::read);
    }

    public static Map<String, String> read(String text) {
        Map<String, String> settings = new TreeMap<>();
        text.lines().forEach(line -> {
            int equals = line.indexOf('=');
            if (equals > 0) {
                settings.put(line.substring(0, equals), line.substring(equals + 1));
            }
        });
        return settings;
    }
}
