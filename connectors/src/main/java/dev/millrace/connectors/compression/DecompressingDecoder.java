package dev.millrace.connectors.compression;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.arrow.memory.BufferAllocator;

/** Unpacks values into memory of its own, and has another decoder make rows of them. Owned by one thread. */
final class DecompressingDecoder implements RecordDecoder, DecoderContext {
    /** Of all records that are decoded together, which are some megabytes when they are packed. */
    private static final long MOST_BYTES_AT_ONCE = 512 << 20;

    private static final long KEPT_BYTES = 32 << 20;

    private final Compression compression;
    private final long mostBytes;
    private final DecoderContext context;
    private final RecordDecoder decoder;
    private final EncodedRecords unpacked = new EncodedRecords();
    private TextBuffer bytes;
    private int[] recordOf = new int[64]; // of each that was unpacked, which it is of those that were given

    /** Records that could not be unpacked and are not rejected yet, in their order. */
    private final Queue<Failure> failures = new ArrayDeque<>();

    private record Failure(int record, MillraceException reason) {}

    DecompressingDecoder(CompressedFormat format, List<Integer> columns, DecoderContext context) {
        this.compression = format.compression();
        this.mostBytes = format.mostBytes();
        this.context = context;
        this.decoder = format.unpacked().decoder(columns, this);
        this.bytes = new TextBuffer(context.allocator(), 1024);
    }

    /** The bytes of a record's value, which it has. */
    static byte[] value(EncodedRecords records, int record) {
        byte[] value = new byte[records.to(record) - records.from(record)];
        Memory.copyOut(records.address() + records.from(record), value, 0, value.length);
        return value;
    }

    @Override
    public Optional<DecodedRows> decode(EncodedRecords records) {
        failures.clear();
        unpacked.clear();
        bytes.clear();
        if (recordOf.length < records.count()) {
            recordOf = new int[records.count()];
        }
        for (int record = 0; record < records.count(); record++) {
            unpack(records, record);
        }
        bytes.room(EncodedRecords.SLACK_BYTES);
        unpacked.place(bytes.address(), (int) bytes.length());
        Optional<DecodedRows> decoded = decoder.decode(unpacked);
        if (decoded.isEmpty()) {
            return decoded;
        }
        DecodedRows rows = decoded.get();
        boolean isWhole = unpacked.count() == records.count();
        try {
            rejectBefore(Integer.MAX_VALUE);
            if (bytes.capacity() > KEPT_BYTES) {
                bytes.close();
                bytes = new TextBuffer(context.allocator(), 1024);
            }
        } catch (RuntimeException | Error e) {
            rows.close();
            throw e;
        }
        return Optional.of(isWhole ? rows : renumbered(rows));
    }

    private void unpack(EncodedRecords records, int record) {
        long keyFrom = -1;
        long keyTo = -1;
        long before = bytes.length();
        if (records.hasKey(record)) {
            keyFrom = bytes.length();
            bytes.append(records.address() + records.keyFrom(record), records.keyTo(record) - records.keyFrom(record));
            keyTo = bytes.length();
        }
        long from = bytes.length();
        if (records.isNull(record)) {
            from = -1;
        } else {
            try {
                long most = Math.min(mostBytes, MOST_BYTES_AT_ONCE - bytes.length());
                if (most <= 0) {
                    throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "records that were fetched together are more than " + MOST_BYTES_AT_ONCE
                                    + " bytes unpacked");
                }
                compression.unpack(value(records, record), bytes, most);
            } catch (MillraceException e) {
                bytes.truncate(before);
                failures.add(new Failure(record, e));
                return;
            }
        }
        recordOf[unpacked.count()] = record;
        unpacked.add((int) from, (int) bytes.length(), (int) keyFrom, (int) keyTo, records.position(record));
    }

    private DecodedRows renumbered(DecodedRows rows) {
        int[] records = new int[rows.rows()];
        for (int row = 0; row < records.length; row++) {
            records[row] = recordOf[rows.record(row)];
        }
        return new DecodedRows(rows.columns(), rows.rows(), Optional.of(records), rows.weights());
    }

    private void rejectBefore(int record) {
        while (!failures.isEmpty() && failures.peek().record() < record) {
            Failure failure = failures.remove();
            context.reject(failure.record(), "", failure.reason());
        }
    }

    // ---- what the other decoder asks -------------------------------------------------------------------------------

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
        rejectBefore(recordOf[record]);
        context.reject(recordOf[record], column, reason);
    }

    @Override
    public void note(String text) {
        context.note(text);
    }

    @Override
    public void wakeUp() {
        context.wakeUp();
    }

    @Override
    public Optional<String> waitsFor() {
        return decoder.waitsFor();
    }

    @Override
    public void close() {
        try (decoder) {
            bytes.close();
        }
    }
}
