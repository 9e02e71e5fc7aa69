package dev.millrace.engine.runtime;

import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.SectionContents;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.group.Member;
import dev.millrace.engine.relation.SavedTable;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
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
 * see {@link FailedRows#save}; of a member of a group that cannot go on part {@code failed}: why, the number of bytes, 4 bytes, and the text, see {@link FailureText}. Section {@code kept QUERY}: the part of {@link SavedTable}, if the answer is kept; once it was in the first.
 */
final class SavedAnswer implements Barrier.Later {
    private static final String EPOCH = "epoch";
    private static final String FAILURES = "failures";
    private static final String FAILED = "failed";

    private final String query;
    private final long epoch;
    private final long micros;
    private final byte[] failures;
    private final Optional<MillraceException> failed;

    /** Of what is published now. */
    private SavedAnswer(String query, QueryOutput output, FailedRows failedRows, Optional<MillraceException> failed)
            throws IOException {
        this.query = query;
        this.failed = failed;
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
        barrier.later(new SavedAnswer(query, output, failedRows, Optional.empty()));
        output.view().ifPresent(view -> keepRows(query, view, barrier));
        if (output.memberViews().isPresent()) {
            for (Member member : output.memberViews().get().members()) {
                keep(member, output, barrier);
            }
        }
    }

    /** The same of a member that is a view: nothing where it has no rows and none failed. */
    private static void keep(Member member, QueryOutput output, Barrier barrier) throws IOException {
        member.rows().filter(rows -> rows.rowCount() > 0).ifPresent(rows -> keepRows(member.name(), rows, barrier));
        boolean hasFailed = member.failedRows().flatMap(FailedRows::failure).isPresent();
        if (hasFailed || member.failure().isPresent()) {
            barrier.later(new SavedAnswer(member.name(), output, member.failures(), member.failure()));
        }
    }

    private static void keepRows(String query, VersionedView rows, Barrier barrier) {
        if (!rows.isClosed()) {
            barrier.later(new SavedTable(rows).in(rowsSection(query)));
        }
    }

    @Override
    public void write(Barrier barrier, Runnable sometimes) throws IOException {
        try (SectionOutput output = barrier.section(section(query))) {
            DataOutput out = output.part(EPOCH);
            out.writeLong(epoch);
            out.writeLong(micros);
            output.part(FAILURES, FailedRows.VERSION).write(failures);
            if (failed.isPresent()) {
                byte[] text = FailureText.bytes(FailureText.shortened(failed.get()));
                DataOutput why = output.part(FAILED);
                why.writeInt(text.length);
                why.write(text);
            }
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

    /** Has a member fail as it had, if it had. Before it has rows. @param query its name then */
    static void restoreFailures(SavedSections saved, String query, Member member) {
        if (saved.has(section(query))) {
            restoreFailures(saved, query, member.failures());
            saved.read(section(query), FAILED, part -> member.fails(FailedRows.readText(part.part())));
        }
    }

    /** Whether there are rows of a member. */
    static boolean hasRows(SavedSections saved, String query) {
        return saved.has(rowsSection(query));
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
