package dev.millrace.connectors.json;

import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Which members of an object and elements of an array are columns, and which hold some: a tree by names and numbers. Each place of the
 * tree remembers the names that were met there in their order, since the next record has most likely the same ones in that order.
 * Belongs to one reader.
 */
final class Members {
    static final Members NONE = new Members();
    private static final Spelling[] NO_SPELLINGS = {};
    private static final int MOST_SPELLINGS = 256; // in one place, which an object of arbitrary keys would fill
    private static final int LONGEST_SPELLING = 256;
    private static final int MOST_KNOWN =
            1000; // names of members that nobody asked for: lines may have new ones for ever

    private final Map<String, Members> exact = new HashMap<>();
    private final Map<String, Members> folded = new HashMap<>();
    private final Map<String, Members> known = new HashMap<>(); // what was found for other spellings
    private final Map<Integer, Members> elements = new HashMap<>();
    private final List<Integer> columns = new ArrayList<>();
    private Spelling[] spellings = NO_SPELLINGS; // in the order in which they were first met

    /**
     * A name in quotes as it stands in records, by words of eight bytes, and what it is the name of.
     *
     * @param lastMask which bytes of the last word count
     */
    record Spelling(long[] words, long lastMask, int length, Members member) {
        private static Spelling of(long address, int length, Members member) {
            long[] words = new long[(length + 7) >>> 3];
            for (int i = 0; i < words.length; i++) {
                words[i] = Memory.getLong(address + 8L * i);
            }
            int last = length - 8 * (words.length - 1);
            long mask = last == 8 ? -1 : (1L << 8 * last) - 1;
            words[words.length - 1] &= mask;
            return new Spelling(words, mask, length, member);
        }

        /** Whether it stands at an address, behind which a word can be read. */
        boolean isAt(long address, long end) {
            int last = words.length - 1;
            for (int i = 0; i < last; i++) {
                if (Memory.getLong(address + 8L * i) != words[i]) {
                    return false;
                }
            }
            return address + length <= end && (Memory.getLong(address + 8L * last) & lastMask) == words[last];
        }
    }

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

    /**
     * Which of the names that were met here stands at an address, looked for from number {@code expected} on; negative if none. At most
     * {@code end} - {@code address} bytes are a name, and eight behind them can be read.
     */
    int spelling(long address, long end, int expected) {
        Spelling[] all = spellings;
        for (int i = expected; i < all.length; i++) {
            if (all[i].isAt(address, end)) {
                return i;
            }
        }
        for (int i = Math.min(expected, all.length) - 1; i >= 0; i--) {
            if (all[i].isAt(address, end)) {
                return i;
            }
        }
        return -1;
    }

    /** What the name is the name of that {@link #spelling} found. */
    Members spelled(int spelling) {
        return spellings[spelling].member;
    }

    /** How many bytes the name has that {@link #spelling} found, with its quotes. */
    int spelledLength(int spelling) {
        return spellings[spelling].length;
    }

    /** Remembers a name in its quotes. */
    void met(long address, int length, Members member) {
        if (spellings.length < MOST_SPELLINGS && length <= LONGEST_SPELLING && this != NONE) {
            spellings = Arrays.copyOf(spellings, spellings.length + 1);
            spellings[spellings.length - 1] = Spelling.of(address, length, member);
        }
    }

    /** The element with that number, from 0; or {@link #NONE}. */
    Members element(int number) {
        return elements.getOrDefault(number, NONE);
    }

    /** The columns that this value is. */
    List<Integer> columns() {
        return columns;
    }

    /** Whether this value is no column and holds none. */
    boolean isUnread() {
        return columns.isEmpty() && exact.isEmpty() && elements.isEmpty();
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
