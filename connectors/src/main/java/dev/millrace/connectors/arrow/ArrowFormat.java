package dev.millrace.connectors.arrow;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FileRows;
import dev.millrace.error.MillraceException;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** Arrow IPC with declared columns. */
public record ArrowFormat(Schema schema) implements FileFormat {
    /** The columns of a file, those of types that Millrace has not left out. */
    public static Schema infer(Path file) {
        try (BufferAllocator allocator = new RootAllocator();
                ArrowInput input = ArrowInput.open(file, allocator)) {
            List<Field> fields = new ArrayList<>();
            for (org.apache.arrow.vector.types.pojo.Field field : input.fields()) {
                ArrowColumn.typeOf(field)
                        .ifPresent(type -> fields.add(new Field(field.getName(), type, field.isNullable())));
            }
            return new Schema(fields);
        }
    }

    @Override
    public void check(Path file) {
        try (BufferAllocator allocator = new RootAllocator();
                ArrowInput input = ArrowInput.open(file, allocator)) {
            ArrowReader.check(input, schema);
        }
    }

    @Override
    public List<FileRows> open(List<Path> files, ScanRequest request, SourceContext context) {
        return FileFormat.shares(files, request.parallelism()).stream()
                .<FileRows>map(share -> new ArrowReader(schema, request, share, context))
                .toList();
    }

    @Override
    public FileRows follow(Path file, ScanRequest request, SourceContext context) {
        throw MillraceException.notAvailableYet("following Arrow files");
    }
}
