package dev.millrace.connectors.input;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.kept.FormedBytes;
import dev.millrace.memory.Memory;
import dev.millrace.time.Clock;
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
import java.util.function.UnaryOperator;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** Reads files of lines one after another: all whole lines of the window that make a batch are decoded together. Owned by one thread at a time. */
final class LineReader implements FileRows, RecordFiles.Records, DecoderContext {
    private static final String FORM = "json"; // the first such lines
    private static final int VERSION = 2;
    private static final int LEAST_PLACE_BYTES = 51; // in a position
    private static final int WINDOW_BYTES = 256 << 10;
    private static final int SHOWN_CHARS = 300;
    private static final long ONES = 0x0101010101010101L;
    private static final long HIGH_BITS = ONES << 7;
    private static final long LINE_ENDS = ONES * '\n';

    private final Schema schema;
    private final RecordDecoder decoder;
    private final EncodedRecords lines = new EncodedRecords(); // that are being decoded, by their numbers
    private final int maxRecordBytes;
    private final SourceContext context;
    private final Queue<FilePlace> waiting;
    private final RecordFiles files;
    private final ByteWindow window;

    private long lineNumber;
    private boolean skippingLine;
    private Optional<int[]> recordOf = Optional.empty(); // of the rows of the last batch

    LineReader(LineFiles format, ScanRequest request, List<FilePlace> places, boolean follow, SourceContext context) {
        this.schema = format.relation().select(request.columns());
        this.maxRecordBytes = format.maxRecordBytes();
        this.context = context;
        this.waiting = new ArrayDeque<>(places);
        long totalBytes =
                places.stream().map(FilePlace::file).mapToLong(LineReader::size).sum();
        this.decoder = format.decoders().decoder(request, this);
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
    public Optional<Batch> read(boolean atEnd) {
        int before = window.start();
        lines.clear();
        recordOf = Optional.empty();
        lines.place(window.address(), window.end());
        int end = before;
        long line = lineNumber;
        boolean skipping = skippingLine;
        while (lines.count() < context.batchRows()) {
            int from = end;
            int to = lineEnd(from);
            boolean complete = to < window.end();
            if (!complete && (!atEnd || from == window.end())) {
                break;
            }
            int start = from + (line == 1 ? markLength(from, to) : 0);
            if (!skipping && !isBlank(start, to)) {
                lines.add(start, to, line);
            }
            skipping = false;
            line++;
            end = Math.min(window.end(), to + 1);
        }
        if (end == before) {
            return Optional.empty();
        }
        DecodedRows rows = decoder.decode(lines)
                .orElseThrow(() -> MillraceException.internal("a format of lines waits for something"));
        skippingLine = false;
        lineNumber = line;
        window.consumeTo(end);
        recordOf = rows.records();
        // Perhaps without rows, rather than blocking until there are some.
        return Optional.of(Batch.of(schema, rows.columns().toArray(FieldVector[]::new), rows.rows()));
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
                    lineNumber,
                    "");
        }
        skippingLine = true;
        window.consumeTo(window.end());
    }

    @Override
    public Path file() {
        return files.input().file();
    }

    @Override
    public long line(int row) {
        return lines.position(recordOf.map(all -> all[row]).orElse(row));
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

    /** A mark that says that the text is UTF-8. */
    private int markLength(int from, int to) {
        boolean marked = to - from >= 3
                && Memory.getByte(window.address() + from) == (byte) 0xef
                && Memory.getByte(window.address() + from + 1) == (byte) 0xbb;
        return marked ? 3 : 0;
    }

    private boolean isBlank(int from, int to) {
        for (long at = window.address() + from; at < window.address() + to; at++) {
            byte c = Memory.getByte(at);
            if (c != ' ' && c != '\t' && c != '\r') {
                return false;
            }
        }
        return true;
    }

    private void reject(String column, MillraceException reason, long line, String text) {
        String printable = text.replaceAll("[\\p{Cntrl}&&[^\\t]]", "\ufffd");
        String shown = printable.length() > SHOWN_CHARS ? printable.substring(0, SHOWN_CHARS) + "..." : printable;
        context.reject(new RejectedRecord(
                files.input().file().toString(), line, column, reason.getMessage(), reason.sqlState(), shown));
    }

    // ---- what the decoder asks -------------------------------------------------------------------------------------

    @Override
    public BufferAllocator allocator() {
        return context.allocator();
    }

    @Override
    public Clock clock() {
        return context.clock();
    }

    @Override
    public void reject(int record, String column, MillraceException reason) {
        byte[] shown = new byte[Math.min(lines.to(record) - lines.from(record), 4 * SHOWN_CHARS)];
        Memory.copyOut(lines.address() + lines.from(record), shown, 0, shown.length);
        reject(column, reason, lines.position(record), new String(shown, StandardCharsets.UTF_8));
    }

    @Override
    public void note(String text) {
        context.report(new RejectedRecord(files.input().file().toString(), 0, "", text, SqlState.DATA_EXCEPTION, ""));
    }

    @Override
    public void wakeUp() {
        context.wakeUp();
    }

    // ---- for the engine --------------------------------------------------------------------------------------------

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
        decoder.close();
        files.close();
    }
}
