package dev.millrace.engine.relation;

import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.function.Supplier;

/** What a scan reads. */
public sealed interface Scannable {
    Schema schema();

    /** Who planned to read a table as it was. */
    static MillraceException altered() {
        return MillraceException.user(SqlState.SERIALIZATION_FAILURE, "a table that is read was altered meanwhile")
                .withHint("try the statement again");
    }

    /**
     * A relation whose rows come to all its readers at once.
     *
     * @param fanout through which they come
     * @param domain whose epochs they belong to, as of now
     * @param output where what came before becomes visible, if it is kept
     * @param view what came before, if it is kept
     * @param failedRows those that could not be computed
     * @param onRoom to be called when a reader's channel is not full any more
     */
    record Feed(
            Schema schema,
            Fanout fanout,
            Supplier<EpochDomain> domain,
            Optional<EpochOutput> output,
            Optional<VersionedView> view,
            Runnable onRoom,
            FailedRows failedRows)
            implements Scannable {
        /** One whose rows are there as they are. */
        public Feed(
                Schema schema,
                Fanout fanout,
                Supplier<EpochDomain> domain,
                Optional<EpochOutput> output,
                Optional<VersionedView> view,
                Runnable onRoom) {
            this(schema, fanout, domain, output, view, onRoom, FailedRows.NONE);
        }

        /**
         * For who is about to read the rows that are there.
         *
         * @throws MillraceException 40001 if the table was altered since this was asked for; what a row fails with, as long
         *     as it is there; what the query failed with, if it gave its rows back
         */
        public void requireCurrent() {
            failedRows.stopped().or(failedRows::failure).ifPresent(why -> {
                throw why.again();
            });
            fanout.failure()
                    .filter(failure -> view.filter(VersionedView::isClosed).isPresent())
                    .ifPresent(failure -> {
                        throw failure.again();
                    });
            if (view.filter(VersionedView::isClosed).isPresent() && !fanout.isEnded()) {
                throw altered();
            }
        }
    }

    /** A source whose every reader begins at the first row. */
    record Replay(Schema schema, ReplayableStream stream) implements Scannable {}
}
