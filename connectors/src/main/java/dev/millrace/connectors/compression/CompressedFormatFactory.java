package dev.millrace.connectors.compression;

import dev.millrace.batch.Batch;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** A format whose values may be packed: the option {@code compression}. */
public final class CompressedFormatFactory implements RecordFormatFactory {
    private static final long DEFAULT_BYTES = 16 << 20;
    private static final long LARGEST_BYTES = 256 << 20;

    private final RecordFormatFactory format;

    /** @param format of the unpacked values */
    public CompressedFormatFactory(RecordFormatFactory format) {
        this.format = format;
    }

    @Override
    public String name() {
        return format.name();
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        Compression compression = options.oneOf("compression", Compression.NONE);
        long mostBytes = mostBytes(options);
        RecordFormat unpacked = format.create(declared, options);
        return compression == Compression.NONE ? unpacked : new CompressedFormat(unpacked, compression, mostBytes);
    }

    private static long mostBytes(Options options) {
        return options.integer("compression.max_bytes", DEFAULT_BYTES, 1024, LARGEST_BYTES);
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        Compression compression = options.oneOf("compression", Compression.NONE);
        long mostBytes = mostBytes(options);
        if (compression == Compression.NONE || sample.isEmpty()) {
            return format.infer(sample, options);
        }
        EncodedRecords unpacked = new EncodedRecords();
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer bytes = new TextBuffer(allocator, 1024)) {
            for (int record = 0; record < sample.get().count(); record++) {
                long before = bytes.length();
                try {
                    if (!sample.get().isNull(record) && before < mostBytes) {
                        compression.unpack(DecompressingDecoder.value(sample.get(), record), bytes, mostBytes);
                        unpacked.add((int) before, (int) bytes.length(), record);
                    }
                } catch (MillraceException e) {
                    bytes.truncate(before); // reading it will reject it
                }
            }
            bytes.room(EncodedRecords.SLACK_BYTES);
            unpacked.place(bytes.address(), (int) bytes.length());
            return format.infer(Optional.of(unpacked), options);
        }
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        Compression compression = options.oneOf("compression", Compression.NONE);
        if (compression == Compression.AUTO) {
            throw Options.invalid("compression", "auto", "none, gzip, zstd, lz4 or snappy where records are written");
        }
        RecordEncoder plain = format.encoder(schema, options);
        return compression == Compression.NONE ? plain : packing(plain, compression);
    }

    private static RecordEncoder packing(RecordEncoder plain, Compression compression) {
        return new RecordEncoder() {
            @Override
            public void encode(Batch batch, int row, TextBuffer into) {
                long before = into.length();
                plain.encode(batch, row, into);
                byte[] value = new byte[Math.toIntExact(into.length() - before)];
                Memory.copyOut(into.address() + before, value, 0, value.length);
                into.truncate(before);
                into.append(compression.pack(value));
            }

            @Override
            public void close() {
                plain.close();
            }
        };
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(format.options());
        all.add(new OptionDescription(
                "compression",
                "none",
                "how each value is packed: gzip, zstd, lz4 (its frames), snappy, or auto: as its first bytes say"));
        all.add(new OptionDescription(
                "compression.max_bytes", "16 MB", "values that are longer when they are unpacked are rejected"));
        return List.copyOf(all);
    }
}
