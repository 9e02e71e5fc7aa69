package dev.millrace.connectors.column;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** A decoder that looks at one record after the other: the columns' part of it; how a record is read is the format's. */
public final class RecordwiseDecoder implements RecordDecoder {
    /** How a format reads records. Called by one thread at a time. */
    public interface Reading extends AutoCloseable {
        /** At most so many rows are made of the records; empty if something is to be waited for. */
        default Optional<Integer> mostRows(EncodedRecords records) {
            return Optional.of(records.count());
        }

        /**
         * Puts the rows of a record, which has a value, and {@linkplain DecodedColumns#keep keeps} each.
         *
         * @throws MillraceException if the record is none: nothing of it stays
         */
        void read(EncodedRecords records, int record, DecodedColumns into);

        /** What it waits for, for users. Any thread. */
        default Optional<String> waitsFor() {
            return Optional.empty();
        }

        @Override
        default void close() {}
    }

    private final DecodedColumns columns;
    private final Reading reading;
    private final DecoderContext context;
    private int[] recordOf = {};

    /** @param columns and {@code reading} are closed with this */
    public RecordwiseDecoder(DecodedColumns columns, Reading reading, DecoderContext context) {
        this.columns = columns;
        this.reading = reading;
        this.context = context;
    }

    @Override
    public Optional<DecodedRows> decode(EncodedRecords records) {
        Optional<Integer> most = reading.mostRows(records);
        if (most.isEmpty()) {
            return Optional.empty();
        }
        if (recordOf.length < most.get()) {
            recordOf = new int[most.get()];
        }
        boolean eachItsRow = true;
        try {
            columns.begin(most.get());
            for (int record = 0; record < records.count(); record++) {
                int first = columns.rows();
                read(records, record, first);
                eachItsRow &= columns.rows() == first + 1;
                Arrays.fill(recordOf, first, columns.rows(), record);
            }
        } catch (RuntimeException | Error e) {
            columns.abandon();
            throw e;
        }
        int rows = columns.rows();
        List<FieldVector> vectors = columns.finish();
        return Optional.of(
                eachItsRow
                        ? DecodedRows.ofAll(vectors, rows)
                        : new DecodedRows(vectors, rows, Optional.of(Arrays.copyOf(recordOf, rows)), Optional.empty()));
    }

    private void read(EncodedRecords records, int record, int firstRow) {
        MillraceException why;
        String column = "";
        try {
            if (!records.isNull(record)) {
                reading.read(records, record, columns);
                return;
            }
            why = MillraceException.user(SqlState.NULL_VALUE_NOT_ALLOWED, "a record without a value");
        } catch (MillraceException e) {
            if (e.fault() != MillraceException.Fault.USER) {
                throw e; // no record's fault
            }
            why = e;
            column = columns.failedColumn();
        }
        columns.drop(firstRow);
        context.reject(record, column, why);
    }

    @Override
    public Optional<String> waitsFor() {
        return reading.waitsFor();
    }

    @Override
    public void close() {
        try (columns) {
            reading.close();
        }
    }
}
