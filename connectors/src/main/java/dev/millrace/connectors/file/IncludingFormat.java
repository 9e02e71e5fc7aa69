package dev.millrace.connectors.file;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FileRows;
import dev.millrace.connectors.push.MetaColumn;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A format with further columns, of where each row is from.
 *
 * @param given the columns of the format
 * @param included the further columns, behind those
 */
record IncludingFormat(FileFormat format, Schema given, List<MetaColumn> included) implements FileFormat {
    /** The columns of both. */
    Schema schema() {
        return MetaColumn.behind(given, included);
    }

    @Override
    public void check(Path file) {
        format.check(file);
    }

    @Override
    public List<FileRows> open(List<Path> files, ScanRequest request, SourceContext context) {
        return format.open(files, ofGiven(request), context).stream()
                .map(including(request, context))
                .toList();
    }

    @Override
    public FileRows reopen(
            SourcePosition position, UnaryOperator<Path> now, ScanRequest request, SourceContext context) {
        return including(request, context).apply(format.reopen(position, now, ofGiven(request), context));
    }

    @Override
    public FileRows follow(Path file, ScanRequest request, SourceContext context) {
        return including(request, context).apply(format.follow(file, ofGiven(request), context));
    }

    private Function<FileRows, FileRows> including(ScanRequest request, SourceContext context) {
        return reader -> new IncludingReader(reader, this, request.columns(), context.allocator());
    }

    private ScanRequest ofGiven(ScanRequest request) {
        return new ScanRequest(
                request.columns().stream()
                        .filter(column -> column < given.size())
                        .toList(),
                request.predicates().stream()
                        .filter(predicate -> predicate.column() < given.size())
                        .toList(),
                request.parallelism());
    }
}
