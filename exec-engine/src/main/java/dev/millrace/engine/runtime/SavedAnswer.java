package dev.millrace.engine.runtime;

import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.SectionContents;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.relation.SavedTable;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.view.VersionedView;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Optional;

/**
 * A query's answer as of the version at which a checkpoint was cut: pinned then, written later.
 *
 * <p>Section {@code answer QUERY}: part {@code epoch}: the newest epoch and its time, 8 bytes each; part {@code failures}, version 2:
 * see {@link FailedRows#save}. Section {@code kept QUERY}: the part of {@link SavedTable}, if the answer is kept; once it was in the first.
 */
final class SavedAnswer implements Barrier.Later {
    private static final String EPOCH = "epoch";
    private static final String FAILURES = "failures";

    private final String query;
    private final long epoch;
    private final long micros;
    private final byte[] failures;

    /** Of what is published now. */
    private SavedAnswer(String query, QueryOutput output, FailedRows failedRows) throws IOException {
        this.query = query;
        this.epoch = output.publishedEpoch();
        this.micros = output.publishedMicros();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        failedRows.save(new DataOutputStream(bytes));
        this.failures = bytes.toByteArray();
    }

    private static String section(String query) {
        return "answer " + query;
    }

    private static String rowsSection(String query) {
        return "kept " + query;
    }

    /** Has a checkpoint write what is published now. */
    static void keep(String query, QueryOutput output, FailedRows failedRows, Barrier barrier) throws IOException {
        barrier.later(new SavedAnswer(query, output, failedRows));
        output.view()
                .filter(view -> !view.isClosed())
                .ifPresent(view -> barrier.later(new SavedTable(view).in(rowsSection(query))));
    }

    @Override
    public void write(Barrier barrier, Runnable sometimes) throws IOException {
        try (SectionOutput output = barrier.section(section(query))) {
            DataOutput out = output.part(EPOCH);
            out.writeLong(epoch);
            out.writeLong(micros);
            output.part(FAILURES, FailedRows.VERSION).write(failures);
            output.finish();
        }
    }

    /** Epoch and time. */
    record Newest(long epoch, long micros) {}

    static Newest newest(SavedSections saved, String query) {
        Newest[] newest = {new Newest(0, 0)};
        saved.read(section(query), EPOCH, part -> newest[0] = readNewest(part.part()));
        return newest[0];
    }

    private static Newest readNewest(DataInput in) throws IOException {
        return new Newest(in.readLong(), in.readLong());
    }

    static void restoreFailures(SavedSections saved, String query, FailedRows failedRows) {
        saved.read(
                section(query), FAILURES, FailedRows.VERSION, part -> failedRows.restore(part.part(), part.version()));
    }

    /** Adds the rows to a view that nobody has yet. */
    static void restoreRows(SavedSections saved, String query, VersionedView view) {
        SavedTable.restoreAmong(saved, section(query), view);
        SavedTable.restore(saved, rowsSection(query), view);
    }

    @Override
    public Optional<SectionContents> contents() {
        return Optional.empty(); // the epoch moves on, and it is short
    }

    @Override
    public void close() {
        // nothing is pinned
    }
}
