package dev.millrace.engine.group;

import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.operator.Operator;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * What an operator keeps, in memory.
 *
 * <p>Written: the number of parts, 4 bytes; of each the name of its state, as {@link DataOutput#writeUTF} has it, version and key group, 4 bytes each, the number of
 * its bytes, 4 bytes, and these.
 */
public final class StateParts implements StateReader {
    private record Part(StateFormat format, int keyGroup, byte[] bytes) {}

    private final List<Part> parts;

    private StateParts(List<Part> parts) {
        this.parts = List.copyOf(parts);
    }

    /** Of an operator, between epochs. */
    public static StateParts of(Operator operator) {
        Taking taking = new Taking();
        try {
            operator.snapshot(taking);
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written to", e);
        }
        return taking.finish();
    }

    /** Of these only what belongs to an instance: what is of no key, and key groups that it owns. */
    public StateReader of(IntPredicate groups) {
        return new StateParts(parts.stream()
                .filter(part -> part.keyGroup < 0 || groups.test(part.keyGroup))
                .toList());
    }

    @Override
    public void keyGroups(StateFormat state, GroupReader restore) {
        for (Part part : parts) {
            if (part.format.equals(state)) {
                restore.accept(new DataInputStream(new ByteArrayInputStream(part.bytes)), part.keyGroup);
            }
        }
    }

    /** Its formats. */
    List<StateFormat> formats() {
        return parts.stream().map(Part::format).toList();
    }

    void write(DataOutput out) throws IOException {
        out.writeInt(parts.size());
        for (Part part : parts) {
            out.writeUTF(part.format.name());
            out.writeInt(part.format.version());
            out.writeInt(part.keyGroup);
            out.writeInt(part.bytes.length);
            out.write(part.bytes);
        }
    }

    static StateParts read(DataInput in) throws IOException {
        List<Part> parts = new ArrayList<>();
        for (int left = SectionInput.readLength(in); left > 0; left--) {
            StateFormat format = new StateFormat(in.readUTF(), in.readInt());
            int keyGroup = in.readInt();
            parts.add(new Part(format, keyGroup, bytes(in)));
        }
        return new StateParts(parts);
    }

    private static byte[] bytes(DataInput in) throws IOException {
        int length = SectionInput.readLength(in);
        long ahead = SectionInput.bytesAhead(in);
        if (ahead > 0 && length > ahead) {
            throw new EOFException(length + " bytes of a state where there are " + ahead);
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    private static final class Taking implements StateWriter {
        private record Open(StateFormat format, int keyGroup, ByteArrayOutputStream bytes) {}

        private final List<Open> open = new ArrayList<>();

        @Override
        public DataOutput keyGroup(StateFormat state, int group) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            open.add(new Open(state, group, bytes));
            return new DataOutputStream(bytes);
        }

        StateParts finish() {
            return new StateParts(open.stream()
                    .map(part -> new Part(part.format, part.keyGroup, part.bytes.toByteArray()))
                    .toList());
        }
    }
}
