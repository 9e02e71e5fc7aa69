package dev.millrace.connectors.json;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FileInput;
import dev.millrace.connectors.input.FilePlace;
import java.nio.file.Path;
import java.util.List;

/** JSON lines with declared columns; lines longer than {@code maxRecordBytes} are rejected. */
public record JsonFormat(List<JsonColumn> columns, int maxRecordBytes) implements FileFormat {
    public JsonFormat {
        columns = List.copyOf(columns);
    }

    /** Any member may be missing from any line, so that only opening can fail. */
    @Override
    public void check(Path file) {
        FileInput.open(file, Encoding.UTF_8).close();
    }

    @Override
    public List<SourceReader> open(List<Path> files, ScanRequest request, SourceContext context) {
        List<FilePlace> places = files.stream().map(FilePlace::beginningOf).toList();
        return FileFormat.shares(places, request.parallelism()).stream()
                .<SourceReader>map(share -> new JsonReader(columns, request, maxRecordBytes, share, false, context))
                .toList();
    }

    @Override
    public SourceReader reopen(SourcePosition position, ScanRequest request, SourceContext context) {
        return new JsonReader(columns, request, maxRecordBytes, JsonReader.places(position), false, context);
    }

    @Override
    public SourceReader follow(Path file, ScanRequest request, SourceContext context) {
        return new JsonReader(columns, request, maxRecordBytes, List.of(FilePlace.beginningOf(file)), true, context);
    }
}
