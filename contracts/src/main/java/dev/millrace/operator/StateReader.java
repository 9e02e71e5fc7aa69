package dev.millrace.operator;

import java.io.DataInput;
import java.util.function.ObjIntConsumer;

/** Where a snapshot is restored from. */
public interface StateReader {
    /** Calls back once for each stored key group of {@code name} (and -1), with its bytes; groups not owned are left out. */
    void keyGroups(String name, ObjIntConsumer<DataInput> restore);
}
