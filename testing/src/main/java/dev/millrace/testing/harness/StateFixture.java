package dev.millrace.testing.harness;

import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The state of an operator as the release wrote it that the file is of: {@code src/test/resources/state/NAME}. {@code
 * -Dmillrace.golden.update=true} writes what is not there yet, or has another version by now.
 *
 * <p>What is written must have the same parts of the same lengths, not the same bytes: some have addresses in them, which nobody reads.
 *
 * <p>Bytes: parts up to the end of the file, each name, as {@code writeUTF}, version, 2 bytes, key group, 2 bytes, length, 4 bytes, and
 * the bytes.
 */
public final class StateFixture {
    private static final Path ALL = Path.of("src", "test", "resources", "state");
    private static final boolean UPDATE = Boolean.getBoolean("millrace.golden.update");
    private static final int MOST_BYTES = 24 << 10;

    private record Part(StateFormat state, int group, byte[] bytes) {}

    private StateFixture() {}

    /** What operators write, part by part; to be compared with a fixture. */
    public static final class Recording implements StateWriter {
        private final List<StateFormat> states = new ArrayList<>();
        private final List<Integer> groups = new ArrayList<>();
        private final List<ByteArrayOutputStream> bytes = new ArrayList<>();

        @Override
        public DataOutput keyGroup(StateFormat state, int group) {
            states.add(state);
            groups.add(group);
            bytes.add(new ByteArrayOutputStream());
            return new DataOutputStream(bytes.get(bytes.size() - 1));
        }

        private List<Part> parts() {
            List<Part> parts = new ArrayList<>();
            for (int i = 0; i < states.size(); i++) {
                parts.add(new Part(states.get(i), groups.get(i), bytes.get(i).toByteArray()));
            }
            return parts;
        }
    }

    /**
     * What an operator like this one, of all key groups, is to restore, and must go on with as if it were its own.
     *
     * @throws AssertionError if it writes its state otherwise, and what to do about that
     */
    public static StateReader check(String name, Operator operator) {
        Recording recording = new Recording();
        try {
            operator.snapshot(recording);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return check(name, recording);
    }

    /** The same of what an operator wrote. */
    public static StateReader check(String name, Recording recording) {
        try {
            List<Part> written = recording.parts();
            if (written.stream().mapToInt(part -> part.bytes.length).sum() == 0) {
                throw new AssertionError("no state to keep a fixture of");
            }
            Path file = ALL.resolve(name);
            boolean exists = Files.exists(file);
            if (UPDATE && !(exists && formats(written).equals(formats(read(file))))) {
                Files.createDirectories(ALL);
                Files.write(file, bytes(written));
            } else if (!exists) {
                throw new AssertionError(file + " is not there: -Dmillrace.golden.update=true writes it");
            }
            List<Part> saved = read(file);
            if (!formats(saved).equals(formats(written))) {
                throw new AssertionError(file + " has " + formats(saved) + ", the operator writes " + formats(written)
                        + ": -Dmillrace.golden.update=true writes it anew");
            }
            if (!lengths(saved).equals(lengths(written))) {
                throw new AssertionError("the operator writes " + formats(written) + " otherwise than in " + file
                        + ". Checkpoints of releases have the bytes of the file: if the format has changed, raise its version"
                        + " in StateFormats and run with -Dmillrace.golden.update=true; if only the rows of the test have,"
                        + " remove the file and do so");
            }
            return reader(saved);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The formats that some fixture has. */
    public static Set<StateFormat> formats() {
        Set<StateFormat> formats = new LinkedHashSet<>();
        try (var files = Files.list(ALL)) {
            for (Path file : files.toList()) {
                formats.addAll(formats(read(file)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return formats;
    }

    private static Set<StateFormat> formats(List<Part> parts) {
        Set<StateFormat> formats = new LinkedHashSet<>();
        parts.forEach(part -> formats.add(part.state));
        return formats;
    }

    private static List<String> lengths(List<Part> parts) {
        return parts.stream()
                .map(part -> part.state + " " + part.group + ": " + part.bytes.length)
                .toList();
    }

    private static byte[] bytes(List<Part> parts) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (Part part : parts) {
            out.writeUTF(part.state.name());
            out.writeShort(part.state.version());
            out.writeShort(part.group);
            out.writeInt(part.bytes.length);
            out.write(part.bytes);
        }
        if (bytes.size() > MOST_BYTES) {
            throw new AssertionError("a fixture of " + bytes.size() + " bytes: have fewer rows");
        }
        return bytes.toByteArray();
    }

    private static List<Part> read(Path file) throws IOException {
        List<Part> parts = new ArrayList<>();
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(Files.readAllBytes(file)));
        while (in.available() > 0) {
            StateFormat state = new StateFormat(in.readUTF(), in.readShort());
            int group = in.readShort();
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            parts.add(new Part(state, group, bytes));
        }
        return parts;
    }

    private static StateReader reader(List<Part> parts) {
        return (state, restore) -> {
            for (Part part : parts) {
                if (part.state.equals(state) && (part.group < 0 || KeyGroups.ALL.contains(part.group))) {
                    restore.accept(new DataInputStream(new ByteArrayInputStream(part.bytes)), part.group);
                }
            }
        };
    }
}
