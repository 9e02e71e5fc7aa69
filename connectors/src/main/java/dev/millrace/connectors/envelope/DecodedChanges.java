package dev.millrace.connectors.envelope;

import dev.millrace.batch.Closing;
import dev.millrace.connectors.envelope.PartDecoder.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.jspecify.annotations.Nullable;

/** What some records say: of each its kind, or why it says nothing, and where the values of its columns are. Owned by one thread. */
final class DecodedChanges implements AutoCloseable {
    /**
     * Where some columns of some records have their values.
     *
     * @param columns of each declared column, its values; null if they are elsewhere
     * @param rowOf of each record, its row in these; {@link PartDecoder.Parts#NONE} if it is elsewhere
     */
    record Place(@Nullable FieldVector[] columns, int[] rowOf) {}

    private final List<AutoCloseable> owned;
    private final List<Place> places = new ArrayList<>();
    private final @Nullable ChangeKind[] kinds;
    private final @Nullable Failure[] failures;

    /** @param owned closed with this */
    DecodedChanges(int records, List<? extends AutoCloseable> owned) {
        this.owned = List.copyOf(owned);
        this.kinds = new ChangeKind[records];
        this.failures = new Failure[records];
    }

    /** Values are looked for there, if not in what was added before. */
    void add(Place place) {
        places.add(place);
    }

    /** What a record says, unless it failed. */
    void is(int record, ChangeKind kind) {
        kinds[record] = kind;
    }

    /** A record says nothing; the first reason counts. */
    void failed(int record, Failure why) {
        if (failures[record] == null) {
            failures[record] = why;
        }
    }

    /** Likewise, if there is a reason. */
    void failed(int record, Optional<Failure> why) {
        why.ifPresent(is -> failed(record, is));
    }

    ChangeKind kind(int record) {
        ChangeKind kind = kinds[record];
        if (kind == null) {
            throw new IllegalStateException("nobody said what record " + record + " is");
        }
        return kind;
    }

    Optional<Failure> failure(int record) {
        return Optional.ofNullable(failures[record]);
    }

    /** Where a declared column of a record has its value; empty where it has none, which is NULL. */
    Optional<Cell> cell(int record, int column) {
        for (Place place : places) {
            int row = place.rowOf()[record];
            FieldVector vector = place.columns()[column];
            if (row != PartDecoder.Parts.NONE && vector != null) {
                return vector.isNull(row) ? Optional.empty() : Optional.of(new Cell(vector, row));
            }
        }
        return Optional.empty();
    }

    /** A value that is not NULL. */
    record Cell(FieldVector vector, int row) {}

    @Override
    public void close() {
        Closing.all(owned);
    }
}
