package dev.millrace.connectors.parquet;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.connectors.filter.Selection;
import dev.millrace.connectors.input.FilePlace;
import dev.millrace.connectors.input.FileRows;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.kept.FormedBytes;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;
import org.apache.parquet.format.RowGroup;

/**
 * Reads files one after another, of each the row groups that may have rows of interest, and of these the columns that are asked for or tested.
 *
 * <pre>
 *   open a file -> [ open a row group, or pass it over -> [ a batch of its next rows ]* ]* -> open the next
 * </pre>
 */
final class ParquetReader implements FileRows {
    private static final String FORM = "parquet";
    private static final int VERSION = 1;
    private static final int LEAST_PLACE_BYTES = 51; // in a position

    private final ParquetFormat format;
    private final ScanRequest request;
    private final Schema schema;
    private final RowFilter filter;
    private final Selection selection = new Selection();
    private final RowBudget budget = new RowBudget();
    private final SourceContext context;
    private final Queue<FilePlace> waiting;
    private final List<Integer> needed; // of the declared columns
    private final DecodedColumns columns; // those needed
    private final long totalBytes;

    private Optional<ParquetFile> file = Optional.empty();
    private List<SchemaNode> nodes = List.of(); // of the declared columns in the file
    private int nextGroup;
    private List<RowAssembly> group = List.of(); // of the columns needed, while a row group is read
    private long rowsLeft; // of the row group
    private long rowsGiven; // of the file, with those that were passed over
    private long firstRow; // of the last batch, in the file
    private long toPass; // rows of the file that were given before the reader was opened
    private long doneBytes;
    private boolean finished;
    private volatile ScanCounts counts = new ScanCounts(0, 0, 0, 0); // written by the reader's thread, read by any

    ParquetReader(ParquetFormat format, ScanRequest request, List<FilePlace> places, SourceContext context) {
        this.format = format;
        this.request = request;
        this.schema = format.schema().select(request.columns());
        this.filter = RowFilter.of(request.predicates(), format.schema());
        this.context = context;
        this.waiting = new ArrayDeque<>(places);
        this.needed = IntStream.range(0, format.schema().size())
                .filter(column -> request.columns().contains(column) || filter.tests(column))
                .boxed()
                .toList();
        this.totalBytes = places.stream()
                .map(FilePlace::file)
                .mapToLong(ParquetReader::size)
                .sum();
        Schema read = format.schema().select(needed);
        this.columns = new DecodedColumns(
                read,
                read.fields().stream()
                        .map(field -> Optional.<dev.millrace.text.TimestampFormat>empty())
                        .toList(),
                IntStream.range(0, needed.size()).boxed().toList(),
                context.allocator());
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            return 0; // opening it will tell
        }
    }

    @Override
    public Optional<Batch> poll() {
        while (!finished) {
            Interrupt.checkCurrent();
            if (file.isEmpty()) {
                openNext();
            } else if (rowsLeft > 0) {
                return Optional.of(batch());
            } else {
                closeGroup();
                openGroup();
            }
        }
        return Optional.empty();
    }

    private void openNext() {
        FilePlace next = waiting.poll();
        if (next == null) {
            finished = true;
            return;
        }
        ParquetFile opened = ParquetFile.open(next.file());
        try {
            nodes = format.columns(opened);
        } catch (RuntimeException | Error e) {
            opened.close();
            throw e;
        }
        file = Optional.of(opened);
        nextGroup = 0;
        rowsGiven = 0;
        toPass = next.line() - 1;
        counts = counts.plus(new ScanCounts(1, 0, 0, 0));
    }

    private void openGroup() {
        ParquetFile of = file.orElseThrow();
        if (nextGroup == of.groups().size()) {
            doneBytes += of.size();
            of.close();
            file = Optional.empty();
            return;
        }
        RowGroup next = of.groups().get(nextGroup++);
        long rows = next.getNum_rows();
        if (toPass >= rows) {
            toPass -= rows;
            rowsGiven += rows;
            return;
        }
        List<DataType> types =
                format.schema().fields().stream().map(Field::type).toList();
        if (!GroupStatistics.mayHave(next, nodes, types, request.predicates())) {
            counts = counts.plus(new ScanCounts(0, 0, 0, 1));
            rowsGiven += rows;
            toPass = 0;
            return;
        }
        counts = counts.plus(new ScanCounts(0, 0, 1, 0));
        List<RowAssembly> opened = new ArrayList<>();
        try {
            for (int column : needed) {
                opened.add(
                        new RowAssembly(of, next, nodes.get(column), types.get(column), budget, context.allocator()));
            }
            group = opened;
            rowsLeft = rows;
            while (toPass > 0) { // of a row group that was read in part
                int some = read((int) Math.min(toPass, context.batchRows()));
                Closing.all(columns.finish());
                toPass -= some;
            }
        } catch (IOException e) {
            Closing.all(opened);
            group = List.of();
            throw ParquetFile.failure(of.path(), e);
        } catch (RuntimeException | Error e) {
            Closing.all(opened);
            group = List.of();
            throw e;
        }
    }

    private void closeGroup() {
        List<RowAssembly> open = group;
        group = List.of();
        Closing.all(open);
    }

    /** Reads rows of the row group, of which at least so many are left, into the columns: fewer if they are large. Says how many. */
    private int read(int most) {
        Path path = file.orElseThrow().path();
        columns.begin(most);
        budget.beginBatch();
        boolean hasRoom = true;
        try {
            for (int row = 0; row < most && hasRoom; row++) {
                for (int i = 0; i < group.size(); i++) {
                    group.get(i).read(columns.column(i));
                }
                columns.keep();
                hasRoom = budget.endRow();
            }
        } catch (IOException e) {
            columns.abandon();
            throw ParquetFile.failure(path, e);
        } catch (MillraceException e) {
            String column = columns.failedColumn();
            columns.abandon();
            long row = rowsGiven + columns.rows() + 1;
            throw e.in("file \"" + path + "\", row " + row + (column.isEmpty() ? "" : ", column \"" + column + "\""));
        } catch (RuntimeException | Error e) {
            columns.abandon();
            throw e;
        }
        int rows = columns.rows();
        rowsLeft -= rows;
        rowsGiven += rows;
        return rows;
    }

    private Batch batch() {
        firstRow = rowsGiven + 1;
        int rows = read((int) Math.min(rowsLeft, context.batchRows()));
        FieldVector[] vectors = new FieldVector[format.schema().size()];
        List<FieldVector> finished = columns.finish();
        for (int i = 0; i < needed.size(); i++) {
            vectors[needed.get(i)] = finished.get(i);
        }
        return filter.batch(format.schema(), request.columns(), vectors, rows, selection, context.allocator());
    }

    /** How many files are left, 4 bytes, then the place in each: its whole length is known again, and the line is the next row's number. */
    @Override
    public Optional<SourcePosition> position() {
        List<FilePlace> left = new ArrayList<>();
        file.ifPresent(open ->
                left.add(new FilePlace(open.path(), open.size(), Long.MAX_VALUE, rowsGiven + toPass + 1, false)));
        left.addAll(waiting);
        return Optional.of(SourcePosition.of(FORM, VERSION, out -> {
            out.writeInt(left.size());
            for (FilePlace place : left) {
                place.write(out);
            }
        }));
    }

    static List<FilePlace> places(SourcePosition position, UnaryOperator<Path> now) {
        return position.read(FORM, VERSION, in -> {
            List<FilePlace> places = new ArrayList<>();
            for (int left = FormedBytes.count(in, LEAST_PLACE_BYTES); left > 0; left--) {
                places.add(FilePlace.read(in, now));
            }
            return places;
        });
    }

    @Override
    public Optional<ScanCounts> counts() {
        return Optional.of(counts);
    }

    @Override
    public Path file() {
        return file.orElseThrow().path();
    }

    @Override
    public long line(int row) {
        return firstRow + (selection.isAll() ? row : selection.row(row));
    }

    @Override
    public boolean isFinished() {
        return finished;
    }

    @Override
    public long retryAfterMicros() {
        return 0;
    }

    @Override
    public double progress() {
        if (totalBytes == 0) {
            return finished ? 1 : -1;
        }
        double ofFile = file.map(open -> {
                    long rows = open.groups().stream()
                            .mapToLong(RowGroup::getNum_rows)
                            .sum();
                    return rows == 0 ? 0.0 : (double) rowsGiven / rows * open.size();
                })
                .orElse(0.0);
        return finished ? 1 : Math.min(1, (doneBytes + ofFile) / totalBytes);
    }

    @Override
    public void close() {
        finished = true;
        try (columns) {
            closeGroup();
            file.ifPresent(ParquetFile::close);
            file = Optional.empty();
        }
    }
}
