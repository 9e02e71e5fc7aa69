package dev.millrace.connectors.parquet;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePlace;
import dev.millrace.connectors.input.FileRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Parquet files with declared columns. */
public record ParquetFormat(Schema schema) implements FileFormat {
    /** The columns of a file, those of types that Millrace has not left out. */
    public static Schema infer(Path path) {
        try (ParquetFile file = ParquetFile.open(path)) {
            List<Field> fields = new ArrayList<>();
            for (SchemaNode node : file.schema().children()) {
                node.type()
                        .ifPresent(type ->
                                fields.add(new Field(node.name(), type, node.isOptional() || node.isRepeated())));
            }
            return new Schema(fields);
        }
    }

    @Override
    public void check(Path path) {
        try (ParquetFile file = ParquetFile.open(path)) {
            columns(file);
        }
    }

    /**
     * Which columns of a file are the declared ones.
     *
     * @throws MillraceException 42703 if it lacks one, 42804 if one is of a type whose values are not all of the declared one
     */
    List<SchemaNode> columns(ParquetFile file) {
        List<SchemaNode> columns = new ArrayList<>();
        for (Field field : schema.fields()) {
            List<String> names =
                    file.schema().children().stream().map(SchemaNode::name).toList();
            SchemaNode node = file.schema().child(field.name()).orElseThrow(() -> {
                MillraceException error = MillraceException.user(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + field.name() + "\" is not in file \"" + file.path() + "\"");
                return Suggestion.nearest(field.name(), names)
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElseGet(() -> error.withHint("its columns are: " + String.join(", ", names)));
            });
            if (!node.canBe(field.type())) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        "column \"" + field.name() + "\" is of Parquet type " + node + " in file \"" + file.path()
                                + "\", which cannot be read as " + field.type());
            }
            columns.add(node);
        }
        return columns;
    }

    @Override
    public List<FileRows> open(List<Path> files, ScanRequest request, SourceContext context) {
        List<FilePlace> places = files.stream().map(FilePlace::beginningOf).toList();
        return FileFormat.shares(places, request.parallelism()).stream()
                .<FileRows>map(share -> new ParquetReader(this, request, share, context))
                .toList();
    }

    @Override
    public FileRows reopen(
            SourcePosition position, UnaryOperator<Path> now, ScanRequest request, SourceContext context) {
        return new ParquetReader(this, request, ParquetReader.places(position, now), context);
    }

    @Override
    public FileRows follow(Path file, ScanRequest request, SourceContext context) {
        throw MillraceException.notAvailableYet("following Parquet files");
    }
}
