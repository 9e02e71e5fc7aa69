package dev.millrace.engine.relation;

import dev.millrace.connector.RejectedRecord;
import java.util.Optional;

/**
 * A stream or table whose rows somebody makes of records that come from elsewhere. Safe on any thread.
 *
 * @param rows takes the rows
 */
public record FedRelation(WritableRelation rows, RejectedLog rejected) {
    private static final System.Logger LOG = System.getLogger(FedRelation.class.getPackageName());

    /** A record became no row: it is counted, and kept where the stream wants that. */
    public void reject(RejectedRecord record) {
        rejected.add(record, Optional.empty());
    }

    /** What is no record, or more than one: counted, kept and logged. */
    public void report(RejectedRecord what) {
        if (rejected.report(what)) {
            LOG.log(System.Logger.Level.WARNING, "\"" + rows.name() + "\": " + what.origin() + ": " + what.reason());
        }
    }
}
