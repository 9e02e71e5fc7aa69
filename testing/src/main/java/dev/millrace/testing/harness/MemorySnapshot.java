package dev.millrace.testing.harness;

import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What operators wrote as their state, by name and key group; the sum of the snapshots of several instances. */
final class MemorySnapshot {
    private static final int INSTANCE = -1;

    private final Map<String, StateFormat> formats = new LinkedHashMap<>();
    private final Map<String, Map<Integer, List<ByteArrayOutputStream>>> groups = new LinkedHashMap<>();
    private final Map<String, List<ByteArrayOutputStream>> ofInstances = new LinkedHashMap<>();

    /** A writer for one instance, which may write only groups that it owns, each once. */
    StateWriter writer(KeyGroups owned) {
        return writer(owned, false);
    }

    /** A writer for one instance, which may write only groups that it owns, as often as it likes. */
    StateWriter gradualWriter(KeyGroups owned) {
        return writer(owned, true);
    }

    private StateWriter writer(KeyGroups owned, boolean gradual) {
        Map<String, List<Integer>> begun = new LinkedHashMap<>();
        return (state, group) -> {
            String name = state.name();
            StateFormat before = formats.putIfAbsent(name, state);
            check(before == null || before.equals(state), "state " + state + ", before it was " + before);
            check(
                    group == INSTANCE || owned.contains(group),
                    "state " + name + " of group " + group + ", owned are " + owned);
            List<Integer> groupsBefore = begun.computeIfAbsent(name, key -> new ArrayList<>());
            check(
                    gradual && group != INSTANCE || !groupsBefore.contains(group),
                    "group " + group + " of state " + name + " begun twice");
            groupsBefore.add(group);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            if (group == INSTANCE) {
                ofInstances.computeIfAbsent(name, key -> new ArrayList<>()).add(bytes);
            } else {
                groups.computeIfAbsent(name, key -> new TreeMap<>())
                        .computeIfAbsent(group, key -> new ArrayList<>())
                        .add(bytes);
            }
            return (DataOutput) new DataOutputStream(bytes);
        };
    }

    /** What an instance owning these groups restores; with the instance state of every instance that wrote one. */
    StateReader reader(KeyGroups owned) {
        return (state, restore) -> {
            String name = state.name();
            StateFormat written = formats.getOrDefault(name, state);
            check(written.equals(state), "state " + written + " is read as " + state);
            ofInstances.getOrDefault(name, List.of()).forEach(bytes -> restore.accept(input(bytes), INSTANCE));
            groups.getOrDefault(name, Map.of()).forEach((group, all) -> {
                if (owned.contains(group)) {
                    all.forEach(bytes -> restore.accept(input(bytes), group));
                }
            });
        };
    }

    /** Takes so many bytes and no more. */
    static final class Cut implements StateWriter {
        private int left;
        private boolean full;

        Cut(int bytes) {
            left = bytes;
        }

        boolean isFull() {
            return full;
        }

        @Override
        public DataOutput keyGroup(StateFormat state, int group) {
            return new DataOutputStream(new OutputStream() {
                @Override
                public void write(int value) throws IOException {
                    full = --left < 0;
                    if (full) {
                        throw new IOException("no more is taken");
                    }
                }
            });
        }
    }

    private static DataInput input(ByteArrayOutputStream bytes) {
        return new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
