package dev.millrace.connectors.directory;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.file.FileSinkFactory;
import dev.millrace.testing.connector.SinkOutside;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A directory that the sink {@code file} writes to and DuckDB reads. */
final class DirectoryOutside implements SinkOutside {
    private final Path directory;
    private final String format;
    private final Map<String, String> options = new LinkedHashMap<>();

    DirectoryOutside(Path directory, String format, String... more) {
        this.directory = directory;
        this.format = format;
        options.put("path", directory + "/");
        options.put("format", format);
        options.put("delivery", "exactly_once");
        for (int i = 0; i < more.length; i += 2) {
            options.put(more[i], more[i + 1]);
        }
    }

    @Override
    public CheckpointedSink open(SinkContext context) {
        return (CheckpointedSink) new FileSinkFactory().open(SCHEMA, true, new Options(options), context);
    }

    /** All files, hidden ones too. */
    List<Path> files() {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public List<Long> seen() {
        List<Path> shown = files().stream()
                .filter(file -> !String.valueOf(file.getFileName()).startsWith("."))
                .toList();
        if (shown.isEmpty()) {
            return List.of();
        }
        String reader = switch (format) {
            case "csv" -> "read_csv('" + directory + "/**/*.csv', header = true, hive_partitioning = true)";
            case "json" -> "read_json('" + directory + "/**/*.jsonl', format = 'newline_delimited')";
            default -> "read_parquet('" + directory + "/**/*.parquet', hive_partitioning = true)";
        };
        return DuckFiles.rows("SELECT id FROM " + reader).stream()
                .map(Long::valueOf)
                .toList();
    }
}
