package dev.millrace.connectors.json;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Which members of an object and elements of an array are columns, and which hold some: a tree by names and numbers. */
final class Members {
    static final Members NONE = new Members();
    private static final int MOST_KNOWN =
            1000; // names of members that nobody asked for: lines may have new ones for ever

    private final Map<String, Members> exact = new HashMap<>();
    private final Map<String, Members> folded = new HashMap<>();
    private final Map<String, Members> known = new HashMap<>(); // what was found for other spellings
    private final Map<Integer, Members> elements = new HashMap<>();
    private final List<Integer> columns = new ArrayList<>();

    static Members of(List<JsonColumn> columns) {
        Members root = new Members();
        for (int i = 0; i < columns.size(); i++) {
            Members member = root;
            for (String step : columns.get(i).path()) {
                member = member.below(step);
            }
            member.columns.add(i);
        }
        return root;
    }

    /** A number is an element of an array, or a member of that name, whichever is there; one in brackets an element. */
    private Members below(String step) {
        if (step.startsWith("[")) {
            return elements.computeIfAbsent(
                    Integer.parseInt(step.substring(1, step.length() - 1)), number -> new Members());
        }
        Members next = exact.computeIfAbsent(step, key -> new Members());
        folded.putIfAbsent(step.toLowerCase(Locale.ROOT), next);
        if (step.length() < 10 && step.chars().allMatch(c -> c >= '0' && c <= '9')) {
            elements.putIfAbsent(Integer.parseInt(step), next);
        }
        return next;
    }

    /** The member of that name, in any case if it is not there exactly; or {@link #NONE}. */
    Members find(String name) {
        Members found = exact.get(name);
        if (found == null) {
            found = known.get(name);
        }
        if (found == null) {
            found = folded.getOrDefault(name.toLowerCase(Locale.ROOT), NONE);
            if (known.size() < MOST_KNOWN) {
                known.put(name, found); // so that the next time is quick
            }
        }
        return found;
    }

    /** The element with that number, from 0; or {@link #NONE}. */
    Members element(int number) {
        return elements.getOrDefault(number, NONE);
    }

    /** The columns that this value is. */
    List<Integer> columns() {
        return columns;
    }

    /** Whether members of an object in this place are columns, or hold some. */
    boolean hasMembers() {
        return !exact.isEmpty();
    }

    /** Whether elements of an array in this place are columns, or hold some. */
    boolean hasElements() {
        return !elements.isEmpty();
    }
}
