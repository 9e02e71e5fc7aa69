package dev.millrace.server.retention;

import dev.millrace.batch.Batch;
import dev.millrace.connector.SourceContext;
import dev.millrace.server.sketched.BoundedScan;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.retention.StoreScan;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a stream keeps, in the order of the log: the columns that are asked for, the entry of each row, and when it arrived. For one thread.
 *
 * @param lastEntry number of the last entry that was appended before the scan was made
 * @param lastDropped number of the last entry of which rows were dropped before; 0 if none are known to be
 * @param rows the next ones, the caller's; empty at the end
 * @param end lets go of what is held
 */
record FollowerScan(long lastEntry, long lastDropped, Supplier<Optional<Batch>> rows, Runnable end)
        implements AutoCloseable {
    /** Of values alone. @param upTo rows of later entries are left out, but for those of segments that have earlier ones as well */
    static FollowerScan of(
            SegmentStore store,
            Schema schema,
            List<Integer> columns,
            List<ColumnRange> ranges,
            long upTo,
            SourceContext context) {
        List<Integer> all = new ArrayList<>(columns);
        all.add(schema.size());
        all.add(schema.size() + 1);
        StoreScan scan = store.scans(all, ranges, upTo, 1, context.allocator()).get(0);
        return new FollowerScan(scan.lastEntry(), scan.lastDropped(), scan::next, scan::close);
    }

    /**
     * Of columns some of which may say how far values of others may be off.
     *
     * @param chosen if it is there, a column behind all others says which rows are among these
     */
    static FollowerScan ofSketches(
            SegmentStore store,
            SketchedForm form,
            List<Integer> columns,
            List<ColumnRange> ranges,
            Optional<Materialisation> chosen,
            long upTo,
            SourceContext context) {
        BoundedScan scan = BoundedScan.open(store, form, columns, ranges, chosen, upTo, context.allocator());
        return new FollowerScan(scan.lastEntry(), scan.lastDropped(), scan::next, scan::close);
    }

    @Override
    public void close() {
        end.run();
    }
}
