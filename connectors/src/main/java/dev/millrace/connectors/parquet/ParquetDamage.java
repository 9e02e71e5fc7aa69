package dev.millrace.connectors.parquet;

import java.io.IOException;

/** Bytes that are no Parquet file, or one that contradicts itself. The message quotes none of them, and goes on from "the file is damaged:". */
final class ParquetDamage extends IOException {
    private static final long serialVersionUID = 1;

    ParquetDamage(String what) {
        super(what);
    }

    /** Holds what a reader expects of the bytes. */
    static void check(boolean holds, String what) throws ParquetDamage {
        if (!holds) {
            throw new ParquetDamage(what);
        }
    }
}
