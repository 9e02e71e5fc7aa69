package dev.millrace.connectors.file;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePaths;
import dev.millrace.type.Schema;
import java.util.List;

/** Files read once, from the first row for every reader. */
record FileSource(Schema schema, FilePaths paths, FileFormat format) implements Source {
    @Override
    public boolean bounded() {
        return true;
    }

    @Override
    public boolean replayable() {
        return true;
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        return format.open(paths.list(), request, context);
    }
}
