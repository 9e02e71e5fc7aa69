package dev.millrace.engine.state.frozen;

import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateWriter;
import java.io.DataOutput;
import java.io.IOException;

/** Begins parts of a state that are written one by one, each of some entries of a key group, whose number follows. */
@FunctionalInterface
public interface Parts {
    DataOutput begin(StateWriter to, int group) throws IOException;

    /** Those of a state that has nothing but such entries. */
    static Parts of(StateFormat state) {
        return (to, group) -> to.keyGroup(state, group);
    }

    /** Those whose parts begin with a byte more. */
    default Parts behind(int with) {
        return (to, group) -> {
            DataOutput out = begin(to, group);
            out.writeByte(with);
            return out;
        };
    }
}
