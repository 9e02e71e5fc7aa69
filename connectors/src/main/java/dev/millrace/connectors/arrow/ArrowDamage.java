package dev.millrace.connectors.arrow;

import java.io.IOException;

/** Bytes that are no Arrow IPC stream, or one that contradicts itself. The message quotes none of them. */
public final class ArrowDamage extends IOException {
    private static final long serialVersionUID = 1;

    ArrowDamage(String what) {
        super(what);
    }

    /** Holds what a reader expects of the bytes. */
    static void check(boolean holds, String what) throws ArrowDamage {
        if (!holds) {
            throw new ArrowDamage(what);
        }
    }
}
