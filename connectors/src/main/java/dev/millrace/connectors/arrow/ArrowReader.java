package dev.millrace.connectors.arrow;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.connectors.filter.Selection;
import dev.millrace.connectors.input.FileRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.arrow.vector.FieldVector;

/**
 * Reads files one after another, a batch per record batch without the rows that fail the filter, cut where that is larger
 * than wished for.
 */
final class ArrowReader implements FileRows {
    private final Schema declared;
    private final List<Integer> requested;
    private final RowFilter filter;
    private final Selection selection = new Selection();
    private final SourceContext context;
    private final Queue<Path> waiting;
    private final long totalBytes;
    private Optional<ArrowInput> input = Optional.empty();
    private int nextRow;
    private int rows;
    private long rowsBefore; // of the file, in earlier record batches
    private long firstRow; // of the last batch, in the file
    private long doneBytes;
    private boolean finished;

    ArrowReader(Schema declared, ScanRequest request, List<Path> files, SourceContext context) {
        this.declared = declared;
        this.requested = request.columns();
        this.filter = RowFilter.of(request.predicates(), declared);
        this.context = context;
        this.waiting = new ArrayDeque<>(files);
        this.totalBytes = files.stream().mapToLong(ArrowReader::size).sum();
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
            if (input.isEmpty()) {
                Path next = waiting.poll();
                if (next == null) {
                    finished = true;
                    break;
                }
                input = Optional.of(ArrowInput.open(next, context.allocator()));
                check(input.get(), declared);
            }
            if (nextRow < rows) {
                return Optional.of(cut());
            }
            rowsBefore += rows;
            if (input.get().next()) {
                nextRow = 0;
                rows = input.get().root().getRowCount();
                checkContents();
            } else {
                doneBytes += size(input.get().file());
                closeInput();
            }
        }
        return Optional.empty();
    }

    private void checkContents() {
        for (int column = 0; column < declared.size(); column++) {
            if (isNeeded(column)) {
                try {
                    ArrowContents.check(found(declared.field(column)), rows);
                } catch (MillraceException e) {
                    throw inFile(e);
                }
            }
        }
    }

    private boolean isNeeded(int column) {
        return requested.contains(column) || filter.tests(column);
    }

    private FieldVector found(Field field) {
        return input.get().root().getVector(find(input.get(), field.name()));
    }

    private MillraceException inFile(MillraceException error) {
        return error.in("file \"" + input.get().file() + "\"");
    }

    private Batch cut() {
        int count = Math.min(context.batchRows(), rows - nextRow);
        firstRow = rowsBefore + nextRow + 1;
        FieldVector[] vectors = new FieldVector[declared.size()];
        try {
            for (int column = 0; column < vectors.length; column++) {
                if (isNeeded(column)) {
                    vectors[column] = take(declared.field(column), count);
                }
            }
        } catch (RuntimeException | Error e) {
            for (FieldVector vector : vectors) {
                if (vector != null) {
                    vector.close();
                }
            }
            throw e;
        }
        nextRow += count;
        return filter.batch(declared, requested, vectors, count, selection, context.allocator());
    }

    private FieldVector take(Field field, int count) {
        var pair = found(field).getTransferPair(context.allocator());
        pair.splitAndTransfer(nextRow, count);
        try (FieldVector part = (FieldVector) pair.getTo()) {
            return ArrowColumn.take(field, part, count, context.allocator());
        } catch (MillraceException e) {
            throw inFile(e);
        }
    }

    /** Checks that the file has every declared column, of a type that can be read. */
    static void check(ArrowInput opened, Schema declared) {
        for (Field field : declared.fields()) {
            int place = find(opened, field.name());
            List<String> names = opened.fields().stream()
                    .map(org.apache.arrow.vector.types.pojo.Field::getName)
                    .toList();
            if (place < 0) {
                MillraceException error = MillraceException.user(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + field.name() + "\" is not in file \"" + opened.file() + "\"");
                throw Suggestion.nearest(field.name(), names)
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElseGet(() -> error.withHint("its columns are: " + String.join(", ", names)));
            }
            var found = opened.fields().get(place);
            if (!ArrowColumn.canRead(field.type(), found)) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        "column \"" + field.name() + "\" is of Arrow type " + found.getType() + " in file \""
                                + opened.file() + "\", which cannot be read as " + field.type());
            }
        }
    }

    private static int find(ArrowInput opened, String name) {
        int folded = -1;
        for (int i = 0; i < opened.fields().size(); i++) {
            String found = opened.fields().get(i).getName();
            if (found.equals(name)) {
                return i;
            }
            if (folded < 0 && found.equalsIgnoreCase(name)) {
                folded = i;
            }
        }
        return folded;
    }

    @Override
    public Path file() {
        return input.orElseThrow().file();
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
        long position = input.map(ArrowInput::bytesRead).orElse(0L);
        return finished ? 1 : Math.min(1, (doneBytes + position) / (double) totalBytes);
    }

    private void closeInput() {
        input.ifPresent(ArrowInput::close);
        input = Optional.empty();
        rows = 0;
        nextRow = 0;
        rowsBefore = 0;
    }

    @Override
    public void close() {
        finished = true;
        closeInput();
    }
}
