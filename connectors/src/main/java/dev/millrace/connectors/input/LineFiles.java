package dev.millrace.connectors.input;

import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Files of lines, each a record of a format; lines that are longer than {@code maxRecordBytes} are rejected.
 *
 * @param relation the columns that the format can give
 */
public record LineFiles(Schema relation, Decoders decoders, int maxRecordBytes) implements FileFormat {
    /** Makes decoders of one format, which never wait. Safe on any thread. */
    public interface Decoders {
        /** A decoder of the columns asked for; it may leave out rows that the request's predicates do not want. */
        RecordDecoder decoder(ScanRequest request, DecoderContext context);
    }

    /** Anything may be missing from any line, so that only opening can fail. */
    @Override
    public void check(Path file) {
        FileInput.open(file, Encoding.UTF_8).close();
    }

    @Override
    public List<FileRows> open(List<Path> files, ScanRequest request, SourceContext context) {
        List<FilePlace> places = files.stream().map(FilePlace::beginningOf).toList();
        return FileFormat.shares(places, request.parallelism()).stream()
                .<FileRows>map(share -> new LineReader(this, request, share, false, context))
                .toList();
    }

    @Override
    public FileRows reopen(
            SourcePosition position, UnaryOperator<Path> now, ScanRequest request, SourceContext context) {
        return new LineReader(this, request, LineReader.places(position, now), false, context);
    }

    @Override
    public FileRows follow(Path file, ScanRequest request, SourceContext context) {
        return new LineReader(this, request, List.of(FilePlace.beginningOf(file)), true, context);
    }
}
