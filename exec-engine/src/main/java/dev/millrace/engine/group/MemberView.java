package dev.millrace.engine.group;

import dev.millrace.batch.Batch;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import java.util.Optional;

/** The answer of one member, from its first row or its first reader on. What is staged of an epoch belongs to who completes that. */
final class MemberView {
    private final VersionedView rows;
    private final PickedRows picked = new PickedRows();
    private Optional<VersionedView.Staged> staged = Optional.empty(); // of the epoch at hand

    MemberView(VersionedView rows) {
        this.rows = rows;
    }

    VersionedView rows() {
        return rows;
    }

    /** A row of the batch at hand is the member's. @return whether it is the first of the batch */
    boolean pick(int row) {
        return picked.add(row);
    }

    /** Stages what was picked of a batch. @return whether it is the first of the epoch */
    boolean stage(Batch batch, int[] columns) {
        boolean isFirst = staged.isEmpty();
        VersionedView.Staged all = staged.orElseGet(VersionedView.Staged::new);
        staged = Optional.of(all);
        try {
            picked.stage(batch, columns, rows, all);
        } catch (MillraceException e) {
            if (!rows.isClosed()) { // else it was dropped meanwhile
                throw e;
            }
        }
        return isFirst;
    }

    /** What is staged of the epoch, all of which is. */
    VersionedView.Staged take() {
        VersionedView.Staged all = staged.orElseThrow();
        staged = Optional.empty();
        return all;
    }

    /** The epoch comes to nothing. */
    void giveUp() {
        staged.ifPresent(rows::discard);
        staged = Optional.empty();
        picked.clear();
    }
}
