package dev.millrace.server.device;

import dev.millrace.connector.PushedContext;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.edge.queue.RejectedLines;
import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** What devices send in the place of rows, told to those who read {@code millrace.rejected_rows}. The stream's thread's. */
record DeviceNotes(PushedContext context) {
    /** A segment cannot be read. */
    void damaged(EdgeDevice device, long number, MillraceException e) {
        device.update(status -> status.withDropped(0, 0, 1));
        report(device, number, String.valueOf(e.getMessage()), e.sqlState());
    }

    /** Rows are missing at the device, or were none there. */
    void noted(EdgeDevice device, Message.Rows rows) {
        switch (rows.kind()) {
            case SHED -> report(device, rows, rows.rows() + " rows were shed at the device, as its queue was full");
            case LOST ->
                report(
                        device,
                        rows,
                        rows.to() - rows.from() + 1 + " segments were lost at the device, as its disk was damaged");
            case REJECTED -> rejected(device, rows);
            case SEGMENT, COARSER, PARTIALS -> throw new IllegalStateException("they are told otherwise");
        }
    }

    /** What of the device's input was no row: the first records one by one, the number of the others. */
    private void rejected(EdgeDevice device, Message.Rows rows) {
        RejectedLines records;
        try {
            records = RejectedLines.read(rows.bytes());
        } catch (MillraceException e) {
            damaged(device, rows.from(), e);
            return;
        }
        long number = records.before();
        for (RejectedLines.Rejected each : records.first()) {
            context.report(new RejectedRecord(
                    device.name, ++number, each.column(), each.reason(), SqlState.DATA_EXCEPTION, each.text()));
        }
        long others = records.all() - records.first().size();
        if (others > 0) {
            report(device, rows, others + " more records were no rows at the device, which did not keep their text");
        }
    }

    private void report(EdgeDevice device, Message.Rows of, String what) {
        report(device, of.from(), what, SqlState.DATA_EXCEPTION);
    }

    private void report(EdgeDevice device, long number, String what, SqlState state) {
        context.report(new RejectedRecord(device.name, number, "", what, state, ""));
    }
}
