package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import java.io.ByteArrayOutputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;

/** What was written of entries ahead of its time, by key group, on the Java heap. One thread. */
public final class KeyGroupBytes {
    private final LongUnaryOperator owner;
    private final Group[] groups = new Group[KeyGroups.COUNT];
    private long size;
    private long bytes;

    private static final class Group {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final DataOutputStream out = new DataOutputStream(bytes);
        private int count;
    }

    /** Begins the part of a key group in which its bytes are to be. */
    @FunctionalInterface
    public interface OfGroup {
        DataOutput begin(int group) throws IOException;
    }

    /** @param owner of an entry the one by whose hash it is of a key group */
    public KeyGroupBytes(LongUnaryOperator owner) {
        this.owner = owner;
    }

    /** How many entries were written. */
    long size() {
        return size;
    }

    long bytes() {
        return bytes;
    }

    /** Writes an entry as it is now. */
    public void add(long entry, EntryWriter writer) {
        int group = KeyGroups.of(Memory.getLong(owner.applyAsLong(entry)));
        Group of = groups[group];
        if (of == null) {
            of = new Group();
            groups[group] = of;
        }
        int before = of.bytes.size();
        try {
            writer.write(entry, of.out);
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written to", e);
        }
        of.count++;
        size++;
        bytes += of.bytes.size() - before;
    }

    /** Adds what another has behind what there is. */
    void addAll(KeyGroupBytes other) {
        for (int group = 0; group < groups.length; group++) {
            Group their = other.groups[group];
            if (their == null) {
                continue;
            }
            if (groups[group] == null) {
                groups[group] = new Group();
            }
            groups[group].bytes.writeBytes(their.bytes.toByteArray());
            groups[group].count += their.count;
            size += their.count;
            bytes += their.bytes.size();
        }
    }

    /** Writes of each key group that has at least so many bytes their number, then these; and has them no more. */
    public void takeOut(int leastBytes, OfGroup parts) throws IOException {
        for (int group = 0; group < groups.length; group++) {
            Group of = groups[group];
            if (of != null && of.bytes.size() >= leastBytes) {
                groups[group] = null;
                size -= of.count;
                bytes -= of.bytes.size();
                write(of, parts.begin(group));
            }
        }
    }

    /** The same of one key group, which has them still. */
    void write(int group, OfGroup parts) throws IOException {
        if (groups[group] != null) {
            write(groups[group], parts.begin(group));
        }
    }

    private static void write(Group of, DataOutput out) throws IOException {
        out.writeInt(of.count);
        out.write(of.bytes.toByteArray());
    }

    public void clear() {
        Arrays.fill(groups, null);
        size = 0;
        bytes = 0;
    }
}
