package dev.millrace.engine.checkpoint;

import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.StateFormat;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a checkpoint says of one query besides its state.
 *
 * <p>Bytes, in the part {@code query} of the section {@code engine}: name, print of the plan and reason to begin anew, each as {@code
 * writeUTF}; kind, 1 byte; parallelism and tasks, 4 bytes each; number of formats, 2 bytes, and of each name and
 * version, 2 bytes; of one that failed, the length of a {@link FailureText}, 4 bytes, and the text. From version 3 on, how many operators'
 * instances have state, 4 bytes, of each node and instance, 4 bytes each, and number of steps, 4 bytes, and of each step its number, 8 bytes,
 * and how many sections it has, 4 bytes. Before that each has one step, of all sections that there are.
 *
 * @param print of its plan: two plans with the same can go on with each other's state
 * @param parallelism how many tasks worked side by side
 * @param tasks how many there were in all
 * @param whyAnew of {@link Kind#ANEW}; else empty
 * @param formats of its states
 * @param states where these are, if this is of version 3 or later and its kind is one that goes on
 */
public record QueryMeta(
        String name,
        String print,
        Kind kind,
        int parallelism,
        int tasks,
        String whyAnew,
        List<StateFormat> formats,
        Optional<MillraceException> failure,
        List<StateSteps> states) {
    /** Of its bytes, from which on they say where states are. */
    static final int WITH_STEPS = 3;

    public QueryMeta {
        formats = List.copyOf(formats);
        states = List.copyOf(states);
    }

    /** What became of it. */
    public enum Kind {
        RUNNING,
        FINISHED,
        FAILED,
        ANEW,
        PAUSED
    }

    private static final int MOST_BYTES = 64 << 10;

    void write(DataOutput out) throws IOException {
        out.writeUTF(name);
        out.writeUTF(print);
        out.writeUTF(whyAnew);
        out.writeByte(kind.ordinal());
        out.writeInt(parallelism);
        out.writeInt(tasks);
        out.writeShort(formats.size());
        for (StateFormat format : formats) {
            out.writeUTF(format.name());
            out.writeShort(format.version());
        }
        if (failure.isPresent()) {
            byte[] text = FailureText.bytes(FailureText.shortened(failure.get()));
            out.writeInt(text.length);
            out.write(text);
        }
        out.writeInt(states.size());
        for (StateSteps state : states) {
            out.writeInt(state.node());
            out.writeInt(state.instance());
            out.writeInt(state.steps().size());
            for (StateSteps.Step step : state.steps()) {
                out.writeLong(step.number());
                out.writeInt(step.sections());
            }
        }
    }

    static QueryMeta read(DataInput in, int format) throws IOException {
        String name = in.readUTF();
        String print = in.readUTF();
        String whyAnew = in.readUTF();
        int kind = in.readByte();
        int parallelism = in.readInt();
        int tasks = in.readInt();
        if (kind < 0 || kind >= Kind.values().length || parallelism < 1 || tasks < 0) {
            throw damaged(name);
        }
        List<StateFormat> formats = new ArrayList<>();
        for (int left = in.readShort(); left > 0; left--) {
            String state = in.readUTF();
            int version = in.readShort();
            if (version < 1) {
                throw damaged(name);
            }
            formats.add(new StateFormat(state, version));
        }
        Optional<MillraceException> failure = Optional.empty();
        if (Kind.values()[kind] == Kind.FAILED) {
            int length = in.readInt();
            if (length < 0 || length > MOST_BYTES) {
                throw damaged(name);
            }
            byte[] text = new byte[length];
            in.readFully(text);
            try {
                failure = Optional.of(FailureText.of(text));
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                throw damaged(name);
            }
        }
        List<StateSteps> states = format < WITH_STEPS ? List.of() : readStates(name, in);
        return new QueryMeta(name, print, Kind.values()[kind], parallelism, tasks, whyAnew, formats, failure, states);
    }

    private static List<StateSteps> readStates(String query, DataInput in) throws IOException {
        List<StateSteps> states = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            int node = in.readInt();
            int instance = in.readInt();
            List<StateSteps.Step> steps = new ArrayList<>();
            for (int more = in.readInt(); more > 0; more--) {
                StateSteps.Step step = new StateSteps.Step(in.readLong(), in.readInt());
                if (step.sections() < 0) {
                    throw damaged(query);
                }
                steps.add(step);
            }
            states.add(new StateSteps(node, instance, steps));
        }
        return states;
    }

    private static MillraceException damaged(String name) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, "what a checkpoint says of the query \"" + name + "\" cannot be");
    }
}
