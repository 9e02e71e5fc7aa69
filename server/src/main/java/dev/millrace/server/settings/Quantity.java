package dev.millrace.server.settings;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers with units, as PostgreSQL's settings have them: {@code 5s}, {@code 64MB}. */
enum Quantity {
    /** In milliseconds. */
    DURATION(Integer.MAX_VALUE, units("ms", 1, "s", 1_000, "min", 60_000, "h", 3_600_000, "d", 86_400_000)),
    /** In bytes. */
    BYTES(Long.MAX_VALUE, units("B", 1, "kB", 1L << 10, "MB", 1L << 20, "GB", 1L << 30, "TB", 1L << 40));

    private static final Pattern TEXT = Pattern.compile("\\s*([0-9]+(?:\\.[0-9]*)?)\\s*([a-zA-Z]*)\\s*");

    private final long most;
    private final Map<String, Long> units;

    Quantity(long most, Map<String, Long> units) {
        this.most = most;
        this.units = units;
    }

    private static Map<String, Long> units(Object... namesAndSizes) {
        Map<String, Long> units = new LinkedHashMap<>();
        for (int i = 0; i < namesAndSizes.length; i += 2) {
            units.put((String) namesAndSizes[i], ((Number) namesAndSizes[i + 1]).longValue());
        }
        return units;
    }

    /** In the smallest unit; empty for what is no such number, or is out of range. */
    Optional<Long> parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        double number = Double.parseDouble(matcher.group(1));
        String unit = matcher.group(2);
        double size;
        if (unit.isEmpty()) {
            size = 1;
        } else if (this == DURATION && unit.equals("us")) {
            size = 1e-3;
        } else if (units.containsKey(unit)) {
            size = units.get(unit);
        } else {
            return Optional.empty();
        }
        double value = Math.rint(number * size);
        return value > most ? Optional.empty() : Optional.of((long) value);
    }

    /** In the largest unit that says it exactly. */
    String text(long value) {
        List<String> names = new ArrayList<>(units.keySet());
        for (int i = names.size() - 1; i >= 0 && value > 0; i--) {
            long size = Objects.requireNonNull(units.get(names.get(i)));
            if (value % size == 0) {
                return value / size + names.get(i);
            }
        }
        return String.valueOf(value);
    }
}
