package dev.millrace.connectors.csv;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.connectors.filter.Selection;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.connectors.input.FileRows;
import dev.millrace.connectors.input.RecordFiles;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.Utf8;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.arrow.vector.FieldVector;

/**
 * Reads segments one after another. All columns of a record are parsed, so that which records are rejected does not
 * depend on the query; only the requested ones become vectors, of the rows that pass the filter.
 *
 * <pre>
 *   open segment -> (header) -> [ fill window -> index records -> parse columns -> batch ]* -> next segment
 * </pre>
 *
 * <p>When there is a filter, text that is not tested is only validated at first, which costs next to nothing, and copied
 * for the rows that are left. All else has to be parsed to be validated, so its values are kept and those of the rows
 * that are left are gathered.
 */
final class CsvReader implements FileRows, RecordFiles.Records {
    private static final int FIRST_WINDOW_BYTES = 64 << 10;
    private static final int LARGEST_WINDOW_BYTES = 4 << 20;
    private static final int SHOWN_BYTES = 300;

    private final List<CsvColumn> columns;
    private final boolean onlyAsked;
    private final List<Integer> requested;
    private final Schema schema;
    private final RowFilter filter;
    private final Selection selection = new Selection(); // of the batch under way
    private final CsvDialect dialect;
    private final SourceContext context;
    private final Queue<CsvSegment> waiting;
    private final RecordFiles files;
    private final ByteWindow window;

    @SuppressWarnings("NullAway.Init") // with the file
    private CsvSegment segment;

    private Optional<CsvLayout> layout = Optional.empty();
    private List<ColumnLoader> loaders = List.of();

    @SuppressWarnings("NullAway.Init") // with the layout
    private CsvIndex index;

    private boolean started;
    private boolean skippingLine;

    // Rows of the batch under way that are rejected, by the first problem of each.
    private long[] rejected = new long[64];
    private int rejectedCount;

    // What is wrong with the records between two batches: found by shape and then column by column, told line by line.
    private final List<RejectedRecord> untold = new ArrayList<>();

    /**
     * @param follow whether to wait for more at the end of the (only) segment instead of finishing
     * @param onlyAsked whether values of columns that are not asked for may be anything
     */
    CsvReader(
            List<CsvColumn> columns,
            ScanRequest request,
            CsvDialect dialect,
            List<CsvSegment> segments,
            boolean follow,
            boolean onlyAsked,
            SourceContext context) {
        this.onlyAsked = onlyAsked;
        this.columns = List.copyOf(columns);
        this.requested = request.columns();
        Schema relation = new Schema(columns.stream().map(CsvColumn::field).toList());
        this.schema = relation.select(requested);
        this.filter = RowFilter.of(request.predicates(), relation);
        this.dialect = dialect;
        this.context = context;
        this.waiting = new ArrayDeque<>(segments);
        long totalBytes = segments.stream().mapToLong(CsvSegment::bytes).sum();
        this.files = new RecordFiles(
                this, totalBytes, FIRST_WINDOW_BYTES, dialect.maxRecordBytes(), follow, context.allocator());
        this.window = files.window();
    }

    @Override
    public Optional<Batch> poll() {
        return files.poll();
    }

    @Override
    public Optional<RecordFiles.Opened> open() {
        CsvSegment next = waiting.poll();
        if (next == null) {
            return Optional.empty();
        }
        segment = next;
        started = false;
        skippingLine = next.inRecord();
        return Optional.of(new RecordFiles.Opened(
                FileInput.open(next.file(), dialect.encoding(), next.from(), next.to()), next.from(), next.bytes()));
    }

    @Override
    public Optional<Batch> read(boolean atEnd) {
        if (!started && !readStart(atEnd) || skippingLine && !skipLine()) {
            return Optional.empty();
        }
        int from = window.start();
        int next = index.scan(window.address(), from, window.end(), atEnd);
        if (index.rows > 0) {
            adapt(index.rows, next - from);
            Batch batch = makeBatch();
            window.consumeTo(next);
            return Optional.of(batch);
        }
        tellRejected();
        window.consumeTo(next);
        return Optional.empty();
    }

    @Override
    public Optional<SourcePosition> position() {
        List<CsvSegment> left = new ArrayList<>();
        if (files.isOpen()) {
            left.add(
                    started
                            ? new CsvSegment(
                                    segment.file(),
                                    files.offset(),
                                    segment.to(),
                                    index.line(),
                                    layout,
                                    segment.bytes(),
                                    skippingLine)
                            : segment);
        }
        left.addAll(waiting);
        return Optional.of(CsvPosition.of(left));
    }

    @Override
    public long line() {
        return started ? index.line() : 1;
    }

    @Override
    public void giveUp() {
        MillraceException reason = MillraceException.user(
                SqlState.PROGRAM_LIMIT_EXCEEDED, "record is longer than " + dialect.maxRecordBytes() + " bytes");
        if (!started) {
            throw reason.in("header of file \"" + segment.file() + "\"");
        }
        reject(window.start(), window.end(), index.line(), "", reason);
        tellRejected();
        skippingLine = true;
    }

    /** Drops bytes up to the next line end; false while that has not come. */
    private boolean skipLine() {
        int at = window.start();
        while (at < window.end()) {
            if (Memory.getByte(window.address() + at++) == '\n') {
                window.consumeTo(at);
                index.startAtLine(index.line() + 1);
                skippingLine = false;
                files.setWindowBytes(FIRST_WINDOW_BYTES);
                return true;
            }
        }
        window.consumeTo(window.end());
        return false;
    }

    /** Finds the layout and the first record; false when that needs more bytes. */
    private boolean readStart(boolean atEnd) {
        if (segment.layout().isPresent()) {
            useLayout(segment.layout().get());
            index.startAtLine(segment.firstLine());
        } else {
            Optional<CsvLayout.Start> start = window.length() == 0 && !atEnd
                    ? Optional.empty()
                    : CsvLayout.read(window, atEnd, dialect, columns, files.input());
            if (start.isEmpty()) {
                return false;
            }
            useLayout(start.get().layout());
            index.startAtLine(start.get().line());
            window.consumeTo(start.get().position());
        }
        started = true;
        return true;
    }

    private void useLayout(CsvLayout newLayout) {
        if (layout.isPresent() && layout.get().equals(newLayout)) {
            return;
        }
        closeLoaders();
        layout = Optional.of(newLayout);
        index = new CsvIndex(
                dialect,
                newLayout.names().toArray(String[]::new),
                context.batchRows(),
                (from, to, line, state, reason) -> reject(from, to, line, "", MillraceException.user(state, reason)));
        List<ColumnLoader> made = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            made.add(new ColumnLoader(
                    columns.get(i), newLayout.fieldOf().get(i), dialect, context.allocator(), this::rejectRow));
        }
        loaders = made;
    }

    /** The next window is to hold about one batch. */
    private void adapt(int records, int consumed) {
        if (records * 2 < context.batchRows() && !window.isDry()) {
            files.setWindowBytes((int) Math.min(LARGEST_WINDOW_BYTES, 2L * files.windowBytes()));
        } else if (records == context.batchRows()) {
            files.setWindowBytes(
                    Math.max(FIRST_WINDOW_BYTES, Math.min(LARGEST_WINDOW_BYTES, consumed + consumed / 16)));
        }
    }

    /** A batch of the indexed records, without rows when all were rejected or did not pass. */
    private Batch makeBatch() {
        long first = window.address() + index.rowStarts[0];
        int bytes = index.recordEnd(index.rows - 1) - index.rowStarts[0];
        boolean plain = Utf8.isPlain(first, bytes);
        FieldVector[] vectors = new FieldVector[columns.size()];
        try {
            parse(vectors, plain);
            if (!selection.isAll()) {
                index.keep(selection);
                for (int i = 0; i < vectors.length; i++) {
                    if (vectors[i] != null) {
                        vectors[i] = selection.take(columns.get(i).field(), vectors[i], context.allocator());
                    }
                }
            }
            FieldVector[] result = new FieldVector[requested.size()];
            for (int i = 0; i < result.length; i++) {
                int column = requested.get(i);
                if (vectors[column] == null) {
                    vectors[column] = load(column, plain);
                }
                result[i] = vectors[column];
            }
            for (int column : requested) {
                vectors[column] = null; // the batch owns it
            }
            return Batch.of(schema, result, index.rows);
        } finally {
            closeAll(vectors);
        }
    }

    /** Parses all columns, or those asked for, into vectors where that does not pay to be put off, and selects the rows to be kept. */
    private void parse(FieldVector[] vectors, boolean plain) {
        selection.all(index.rows);
        rejectedCount = 0;
        rejected = new long[(index.rows + 63) >>> 6];
        for (int i = 0; i < vectors.length; i++) {
            boolean later = !filter.isEmpty() && loaders.get(i).isText();
            if (filter.tests(i) || (requested.contains(i) && !later)) {
                vectors[i] = load(i, plain);
            } else if (!onlyAsked) {
                loaders.get(i).validate(index, window.address(), plain);
            }
        }
        tellRejected();
        if (rejectedCount > 0) {
            selection.remove(rejected);
        }
        filter.narrow(selection, vectors);
    }

    private FieldVector load(int column, boolean plain) {
        return loaders.get(column).load(index, window.address(), plain, context.allocator());
    }

    private static void closeAll(FieldVector[] vectors) {
        for (FieldVector vector : vectors) {
            if (vector != null) {
                vector.close();
            }
        }
    }

    private void rejectRow(int row, String column, MillraceException reason) {
        long bit = 1L << row;
        if ((rejected[row >>> 6] & bit) == 0) {
            rejected[row >>> 6] |= bit;
            rejectedCount++;
            reject(index.rowStarts[row], index.recordEnd(row), index.lines[row], column, reason);
        }
    }

    private void reject(int from, int to, long line, String column, MillraceException reason) {
        byte[] bytes = new byte[Math.max(0, Math.min(SHOWN_BYTES, to - from))];
        Memory.copyOut(window.address() + from, bytes, 0, bytes.length);
        String text = new String(bytes, StandardCharsets.UTF_8).replaceAll("[\\p{Cntrl}&&[^\\t]]", "\ufffd");
        untold.add(new RejectedRecord(
                segment.file().toString(),
                line,
                column,
                reason.getMessage(),
                reason.sqlState(),
                to - from > SHOWN_BYTES ? text + "..." : text));
    }

    /** Under {@code on_error = 'fail'} the first bad line is the one to name. */
    private void tellRejected() {
        if (!untold.isEmpty()) {
            untold.sort(Comparator.comparingLong(RejectedRecord::position));
            List<RejectedRecord> all = List.copyOf(untold);
            untold.clear();
            all.forEach(context::reject);
        }
    }

    @Override
    public Path file() {
        return segment.file();
    }

    @Override
    public long line(int row) {
        return index.lines[row];
    }

    @Override
    public boolean isFinished() {
        return files.isFinished();
    }

    @Override
    public long retryAfterMicros() {
        return files.retryAfterMicros();
    }

    @Override
    public double progress() {
        return files.progress();
    }

    private void closeLoaders() {
        loaders.forEach(ColumnLoader::close);
        loaders = List.of();
    }

    @Override
    public void close() {
        closeLoaders();
        files.close();
    }
}
