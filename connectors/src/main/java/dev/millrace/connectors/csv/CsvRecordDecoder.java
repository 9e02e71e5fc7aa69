package dev.millrace.connectors.csv;

import dev.millrace.batch.Closing;
import dev.millrace.connectors.filter.Selection;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.memory.Memory;
import dev.millrace.text.Utf8;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * Makes a row of each line of each record: all records are indexed, then parsed column by column. A record of which one line is wrong is
 * rejected as a whole. Not thread-safe.
 */
final class CsvRecordDecoder implements RecordDecoder {
    private final List<CsvColumn> columns;
    private final CsvDialect dialect;
    private final List<Integer> requested;
    private final DecoderContext context;
    private final List<ColumnLoader> loaders = new ArrayList<>();
    private final Selection selection = new Selection();
    private CsvIndex index;

    // Of the records that are being decoded.
    private MillraceException[] problems = {}; // of each record the first, or null
    private String[] problemColumns = {};
    private int[] recordOf = {}; // of each row
    private int record; // being indexed

    CsvRecordDecoder(List<CsvColumn> columns, CsvDialect dialect, List<Integer> requested, DecoderContext context) {
        this.columns = columns;
        this.dialect = dialect;
        this.requested = requested;
        this.context = context;
        this.index = index(1);
        try {
            for (int i = 0; i < columns.size(); i++) {
                loaders.add(new ColumnLoader(
                        columns.get(i),
                        i,
                        dialect,
                        context.allocator(),
                        (row, column, reason) -> problem(recordOf[row], column, reason)));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(loaders);
            throw e;
        }
    }

    private CsvIndex index(int rows) {
        String[] names = columns.stream().map(column -> column.field().name()).toArray(String[]::new);
        return new CsvIndex(
                dialect,
                names,
                rows,
                (from, to, line, state, reason) -> problem(record, "", MillraceException.user(state, reason)));
    }

    private void problem(int of, String column, MillraceException reason) {
        if (problems[of] == null) {
            problems[of] = reason;
            problemColumns[of] = column;
        }
    }

    @Override
    public Optional<DecodedRows> decode(EncodedRecords records) {
        int count = records.count();
        problems = new MillraceException[count];
        problemColumns = new String[count];
        findRows(records);
        int rows = index.rows;
        boolean plain = rows == 0
                || Utf8.isPlain(records.address() + index.rowStarts[0], index.recordEnd(rows - 1) - index.rowStarts[0]);
        FieldVector[] vectors = new FieldVector[columns.size()];
        try {
            for (int i = 0; i < vectors.length; i++) {
                if (requested.contains(i)) {
                    vectors[i] = loaders.get(i).load(index, records.address(), plain, context.allocator());
                } else {
                    loaders.get(i).validate(index, records.address(), plain);
                }
            }
            for (int i = 0; i < count; i++) {
                if (problems[i] != null) {
                    context.reject(i, problemColumns[i], problems[i]);
                }
            }
            return Optional.of(selected(vectors, count));
        } catch (RuntimeException | Error e) {
            Closing.all(Arrays.stream(vectors).filter(vector -> vector != null).toList());
            throw e;
        }
    }

    private void findRows(EncodedRecords records) {
        int most = lines(records);
        if (index.rowStarts.length < most) {
            index = index(Math.max(most, 2 * index.rowStarts.length));
            recordOf = new int[index.rowStarts.length];
        } else if (recordOf.length == 0) {
            recordOf = new int[index.rowStarts.length];
        }
        index.rows = 0;
        for (record = 0; record < records.count(); record++) {
            int before = index.rows;
            if (records.isNull(record)) {
                problem(
                        record,
                        "",
                        MillraceException.user(SqlState.NULL_VALUE_NOT_ALLOWED, "a record without a value"));
            } else {
                index.scanMore(records.address(), records.from(record), records.to(record), true);
                if (index.rows == before) {
                    problem(
                            record,
                            "",
                            MillraceException.user(SqlState.BAD_COPY_FILE_FORMAT, "a record without a line"));
                }
            }
            Arrays.fill(recordOf, before, index.rows, record);
        }
    }

    /** As many as there can be at most. */
    private static int lines(EncodedRecords records) {
        int lines = records.count();
        for (int record = 0; record < records.count(); record++) {
            if (!records.isNull(record)) {
                long end = records.address() + records.to(record);
                for (long at = records.address() + records.from(record); at < end; at++) {
                    lines += Memory.getByte(at) == '\n' ? 1 : 0;
                }
            }
        }
        return Math.max(1, lines);
    }

    /** The rows of records that are not rejected. Takes the vectors. */
    private DecodedRows selected(FieldVector[] vectors, int count) {
        int rows = index.rows;
        long[] bad = new long[(rows + 63) >>> 6];
        boolean anyBad = false;
        for (int row = 0; row < rows; row++) {
            if (problems[recordOf[row]] != null) {
                bad[row >>> 6] |= 1L << row;
                anyBad = true;
            }
        }
        int[] of = Arrays.copyOf(recordOf, rows);
        if (anyBad) {
            selection.all(rows);
            selection.remove(bad);
            for (int column : requested) {
                vectors[column] = selection.take(columns.get(column).field(), vectors[column], context.allocator());
            }
            of = new int[selection.count()];
            for (int i = 0; i < of.length; i++) {
                of[i] = recordOf[selection.row(i)];
            }
        }
        List<FieldVector> taken = new ArrayList<>();
        requested.forEach(column -> taken.add(vectors[column]));
        boolean eachItsRow = of.length == count;
        for (int i = 0; eachItsRow && i < count; i++) {
            eachItsRow = of[i] == i;
        }
        return eachItsRow
                ? DecodedRows.ofAll(taken, count)
                : new DecodedRows(taken, of.length, Optional.of(of), Optional.empty());
    }

    @Override
    public void close() {
        Closing.all(loaders);
    }
}
