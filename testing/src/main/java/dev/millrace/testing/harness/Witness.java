package dev.millrace.testing.harness;

import dev.millrace.batch.Batch;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import java.util.ArrayList;
import java.util.List;

/** A batch, one reference to it, and the rows it had when it was passed on. */
record Witness(Batch batch, List<Row> rows) {
    static Witness of(Batch batch) {
        return new Witness(batch, TestBatches.rows(batch));
    }

    /** Checks that the batches still are what they were, and closes them all. */
    static void release(List<Witness> witnesses, String what) {
        List<Witness> all = List.copyOf(witnesses);
        witnesses.clear();
        List<String> faults = new ArrayList<>();
        for (Witness witness : all) {
            try {
                if (!TestBatches.rows(witness.batch).equals(witness.rows)) {
                    faults.add(what + " was written to after it had been passed on");
                }
                witness.batch.close();
            } catch (IndexOutOfBoundsException | AssertionError e) {
                faults.add(what + " was closed more often than owned: " + e.getMessage());
            }
        }
        if (!faults.isEmpty()) {
            throw new AssertionError(faults.get(0));
        }
    }
}
