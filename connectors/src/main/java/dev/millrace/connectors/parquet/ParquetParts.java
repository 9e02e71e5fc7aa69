package dev.millrace.connectors.parquet;

import dev.millrace.connectors.directory.PartFile;
import dev.millrace.connectors.directory.PartFormat;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/** Parquet files, whose last bytes are written last: one that was cut cannot be gone on with. */
public final class ParquetParts implements PartFormat {
    private static final int FIRST_BYTES = 1 << 10;

    private final List<ParquetColumn> columns = new ArrayList<>();
    private final MessageType message;
    private final ParquetCompression compression;
    private final BufferAllocator allocator = new RootAllocator();
    private final TextBuffer scratch = new TextBuffer(allocator, FIRST_BYTES);

    public ParquetParts(Schema schema, ParquetCompression compression) {
        for (int place = 0; place < schema.size(); place++) {
            columns.add(new ParquetColumn(schema.fields().get(place), place));
        }
        this.message = new MessageType(
                "rows", columns.stream().map(ParquetColumn::type).toArray(Type[]::new));
        this.compression = compression;
    }

    @Override
    public String extension() {
        return "parquet";
    }

    @Override
    public boolean goesOn() {
        return false;
    }

    @Override
    public PartFile open(Path file, long length) {
        if (length > 0) {
            throw new IllegalArgumentException("a Parquet file cannot be gone on with");
        }
        return new ParquetPart(file, message, columns, compression, scratch);
    }

    @Override
    public void close() {
        scratch.close();
        allocator.close();
    }
}
