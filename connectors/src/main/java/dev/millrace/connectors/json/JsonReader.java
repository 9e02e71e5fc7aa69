package dev.millrace.connectors.json;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.connectors.input.ByteWindow;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.connectors.input.FilePlace;
import dev.millrace.connectors.input.RecordFiles;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.kept.FormedBytes;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;

/** Reads files of JSON lines one after another. Each line is validated, then kept if it passes the filter. */
final class JsonReader implements SourceReader, RecordFiles.Records {
    private static final String FORM = "json";
    private static final int VERSION = 2;
    private static final int LEAST_PLACE_BYTES = 51; // in a position
    private static final int WINDOW_BYTES = 256 << 10;
    private static final int SHOWN_CHARS = 300;
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = ONES << 7;
    private static final long LINE_ENDS = ONES * '\n';

    private final Schema schema;
    private final JsonColumns columns;
    private final int maxRecordBytes;
    private final SourceContext context;
    private final Queue<FilePlace> waiting;
    private final RecordFiles files;
    private final ByteWindow window;

    private long lineNumber;
    private boolean skippingLine;

    JsonReader(
            List<JsonColumn> declared,
            ScanRequest request,
            int maxRecordBytes,
            List<FilePlace> places,
            boolean follow,
            SourceContext context) {
        Schema relation = JsonColumns.relation(declared);
        this.schema = relation.select(request.columns());
        RowFilter filter = RowFilter.of(request.predicates(), relation);
        this.columns = new JsonColumns(declared, request.columns(), filter, context.allocator());
        this.maxRecordBytes = maxRecordBytes;
        this.context = context;
        this.waiting = new ArrayDeque<>(places);
        long totalBytes =
                places.stream().map(FilePlace::file).mapToLong(JsonReader::size).sum();
        this.files = new RecordFiles(this, totalBytes, WINDOW_BYTES, maxRecordBytes, follow, context.allocator());
        this.window = files.window();
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
        return files.poll();
    }

    @Override
    public Optional<RecordFiles.Opened> open() {
        FilePlace next = waiting.poll();
        if (next == null) {
            return Optional.empty();
        }
        lineNumber = next.line();
        skippingLine = next.inRecord();
        FileInput input = FileInput.open(next.file(), Encoding.UTF_8, next.from(), next.to());
        return Optional.of(new RecordFiles.Opened(input, next.from(), size(next.file())));
    }

    /** How many files are left, 4 bytes, then the place in each. */
    @Override
    public Optional<SourcePosition> position() {
        List<FilePlace> left = new ArrayList<>();
        if (files.isOpen()) {
            Path file = files.input().file();
            left.add(new FilePlace(file, files.offset(), Long.MAX_VALUE, lineNumber, skippingLine));
        }
        left.addAll(waiting);
        return Optional.of(SourcePosition.of(FORM, VERSION, out -> {
            out.writeInt(left.size());
            for (FilePlace place : left) {
                place.write(out);
            }
        }));
    }

    static List<FilePlace> places(SourcePosition position) {
        return position.read(FORM, VERSION, in -> {
            List<FilePlace> places = new ArrayList<>();
            for (int left = FormedBytes.count(in, LEAST_PLACE_BYTES); left > 0; left--) {
                places.add(FilePlace.read(in));
            }
            return places;
        });
    }

    @Override
    public Optional<Batch> read(boolean atEnd) {
        int before = window.start();
        int rows = readLines(atEnd);
        if (rows > 0 || window.start() > before) {
            return Optional.of(batch(rows)); // without rows rather than blocking until there are some
        }
        columns.abandon();
        return Optional.empty();
    }

    @Override
    public long line() {
        return lineNumber;
    }

    @Override
    public void giveUp() {
        if (!skippingLine) {
            reject(
                    "",
                    MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED, "record is longer than " + maxRecordBytes + " bytes"),
                    "");
        }
        skippingLine = true;
        window.consumeTo(window.end());
    }

    /** Reads the lines in the window, up to a batch of rows; returns how many rows they gave. */
    private int readLines(boolean atEnd) {
        int capacity = context.batchRows();
        columns.begin(capacity);
        int rows = 0;
        while (rows < capacity) {
            int from = window.start();
            int end = lineEnd(from);
            boolean complete = end < window.end();
            if (!complete && (!atEnd || from == window.end())) {
                break;
            }
            if (skippingLine) {
                skippingLine = false;
            } else if (readLine(from, end, rows)) {
                rows++;
            }
            lineNumber++;
            window.consumeTo(Math.min(window.end(), end + 1));
        }
        return rows;
    }

    private int lineEnd(int from) {
        long end = window.address() + window.end();
        for (long at = window.address() + from; at < end; at += 8) {
            long word = Memory.getLong(at) ^ LINE_ENDS;
            long found = word - ONES & ~word & HIGH_BITS; // right up to the first line end, and only of that asked
            if (found != 0) {
                return (int) (Math.min(end, at + (Long.numberOfTrailingZeros(found) >>> 3)) - window.address());
            }
        }
        return window.end();
    }

    /** Reads a line as a row; false when it is blank or was rejected. */
    private boolean readLine(int from, int end, int row) {
        long address = window.address() + from;
        int length = end - from;
        boolean marked = lineNumber == 1
                && length >= 3
                && Memory.getByte(address) == (byte) 0xef
                && Memory.getByte(address + 1) == (byte) 0xbb;
        int start = marked ? 3 : 0;
        if (JsonColumns.isBlank(address + start, length - start)) {
            return false;
        }
        return columns.read(address + start, length - start, row, (column, reason) -> {
            byte[] shown = new byte[Math.min(length, 4 * SHOWN_CHARS)];
            Memory.copyOut(address, shown, 0, shown.length);
            reject(column, reason, new String(shown, StandardCharsets.UTF_8));
        });
    }

    private void reject(String column, MillraceException reason, String text) {
        String printable = text.replaceAll("[\\p{Cntrl}&&[^\\t]]", "\ufffd");
        String shown = printable.length() > SHOWN_CHARS ? printable.substring(0, SHOWN_CHARS) + "..." : printable;
        context.reject(new RejectedRecord(
                files.input().file().toString(), lineNumber, column, reason.getMessage(), reason.sqlState(), shown));
    }

    private Batch batch(int rows) {
        return Batch.of(schema, columns.finish(rows), rows);
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

    @Override
    public void close() {
        columns.close();
        files.close();
    }
}
