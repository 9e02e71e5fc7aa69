package dev.millrace.server.simulation;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Values under names, each changed as a whole: which a name may have, where its client does not know. Nothing is an empty text. */
final class ModelRegisters {
    private final Map<String, Set<String>> possible = new TreeMap<>();

    List<String> names() {
        return List.copyOf(possible.keySet());
    }

    /** A change was answered. */
    void isSet(String name, String value) {
        possible.put(name, new LinkedHashSet<>(Set.of(value)));
    }

    /** A change was not answered, or refused: the name has this value or what it had. */
    void maybeSet(String name, String value) {
        possible.computeIfAbsent(name, first -> new LinkedHashSet<>(Set.of(""))).add(value);
    }

    /** A name was looked at. */
    void isSeen(String name, String value) {
        Set<String> values = possible.getOrDefault(name, Set.of(""));
        if (!values.contains(value)) {
            throw new AssertionError(name + " is '" + value + "', and not one of " + values);
        }
    }

    /** A name was looked at when the database was opened: what it has it keeps. */
    void isFound(String name, String value) {
        isSeen(name, value);
        isSet(name, value);
    }
}
