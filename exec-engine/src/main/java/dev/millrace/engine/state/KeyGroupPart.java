package dev.millrace.engine.state;

import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.DataOutput;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.function.LongUnaryOperator;

/** What an operator keeps, by key group, as its snapshot has it. It may not change while it is written. One thread. */
public interface KeyGroupPart {
    /** How many entries a key group has. */
    int count(int group);

    void write(int group, DataOutput out) throws IOException;

    /** Writes what is kept under one key. */
    @FunctionalInterface
    interface EntryWriter {
        void write(long entry, DataOutput out) throws IOException;
    }

    /**
     * The entries of a table: of each key group their number, then each.
     *
     * @param far addresses that the writer reads from because they are in an entry, 0 for none: each costs a look into memory that is not
     *     in the cache, and many are looked at together
     */
    static KeyGroupPart of(GroupTable table, EntryWriter writer, LongUnaryOperator... far) {
        return of(new KeyGroupEntries(table), writer, far);
    }

    /** The same of some of a table's entries. */
    static KeyGroupPart of(KeyGroupEntries entries, EntryWriter writer, LongUnaryOperator... far) {
        return new KeyGroupPart() {
            @Override
            public int count(int group) {
                return entries.count(group);
            }

            @Override
            public void write(int group, DataOutput out) throws IOException {
                entries.write(group, out, writer, far);
            }
        };
    }

    /** Writes the key groups that have entries as the state of this name. */
    default void write(StateWriter writer, StateFormat state) throws IOException {
        for (int group = 0; group < KeyGroups.COUNT; group++) {
            if (count(group) > 0) {
                write(group, writer.keyGroup(state, group));
            }
        }
    }

    /**
     * Writes several parts, each known by a time: of each key group the number of parts that have entries of it, then each
     * one's time and entries.
     */
    static <T> void write(
            SortedMap<Long, T> byTime, Function<T, KeyGroupPart> part, StateWriter writer, StateFormat state)
            throws IOException {
        Map<Long, KeyGroupPart> parts = new LinkedHashMap<>();
        byTime.forEach((time, kept) -> parts.put(time, part.apply(kept)));
        for (int group = 0; group < KeyGroups.COUNT; group++) {
            int keyGroup = group;
            List<Long> times = parts.keySet().stream()
                    .filter(time -> Objects.requireNonNull(parts.get(time)).count(keyGroup) > 0)
                    .toList();
            if (!times.isEmpty()) {
                DataOutput out = writer.keyGroup(state, group);
                out.writeInt(times.size());
                for (long time : times) {
                    out.writeLong(time);
                    Objects.requireNonNull(parts.get(time)).write(group, out);
                }
            }
        }
    }
}
