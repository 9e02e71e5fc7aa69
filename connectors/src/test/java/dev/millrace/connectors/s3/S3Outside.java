package dev.millrace.connectors.s3;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.Source;
import dev.millrace.connectors.directory.DuckFiles;
import dev.millrace.connectors.file.FileSinkFactory;
import dev.millrace.connectors.file.FileSourceFactory;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.connector.SourceOutside;
import dev.millrace.testing.s3.S3Server;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Objects of one prefix of a server, which sinks write and sources read. */
final class S3Outside implements SinkOutside, SourceOutside {
    static final Schema SCHEMA = SourceOutside.SCHEMA;

    private final S3Server server;
    private final String prefix;
    private final String format;
    private final Map<String, String> more = new HashMap<>();
    private final Map<String, List<Long>> read = new HashMap<>(); // of files that DuckDB reads, by what they are

    /** @param prefix with a "/" at its end, or empty */
    S3Outside(S3Server server, String prefix, String format, String... more) {
        this.server = server;
        this.prefix = prefix;
        this.format = format;
        for (int i = 0; i < more.length; i += 2) {
            this.more.put(more[i], more[i + 1]);
        }
    }

    String prefix() {
        return prefix;
    }

    Options options(String path) {
        Map<String, String> all = new HashMap<>(server.options());
        all.put("path", "s3://" + S3Server.BUCKET + "/" + path);
        all.put("format", format);
        all.putAll(more);
        return new Options(all, S3Server::resolve);
    }

    @Override
    public CheckpointedSink open(SinkContext context) {
        return (CheckpointedSink) new FileSinkFactory().open(SinkOutside.SCHEMA, true, options(prefix), context);
    }

    /** Keys of what is there, without the prefix. */
    List<String> keys() {
        return server.keys().stream()
                .filter(key -> key.startsWith(prefix))
                .map(key -> key.substring(prefix.length()))
                .toList();
    }

    @Override
    public List<Long> seen() {
        List<Long> ids = new ArrayList<>();
        for (String key : keys()) {
            byte[] bytes = server.get(prefix + key);
            ids.addAll(
                    format.equals("parquet")
                            ? read.computeIfAbsent(key + Arrays.hashCode(bytes), k -> parquet(bytes))
                            : text(new String(bytes, StandardCharsets.UTF_8)));
        }
        return ids;
    }

    private static List<Long> text(String text) {
        return text.lines()
                .filter(line -> !line.startsWith("id"))
                .map(line -> line.replaceFirst("^\\{\"id\": ?", "").replaceFirst(",.*", ""))
                .map(Long::valueOf)
                .toList();
    }

    private static List<Long> parquet(byte[] bytes) {
        try {
            Path file = Files.createTempFile("seen", ".parquet");
            try {
                Files.write(file, bytes);
                return DuckFiles.rows("SELECT id FROM '" + file + "'").stream()
                        .map(Long::valueOf)
                        .toList();
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Source source() {
        return new FileSourceFactory().create(SCHEMA, options(prefix + "*.json"));
    }

    @Override
    public void append(long from, long to) {
        StringBuilder text = new StringBuilder();
        for (long id = from; id < to; id++) {
            text.append("{\"id\": ").append(id).append(", \"name\": \"n\"}\n");
        }
        put(String.format("%06d.json", from), text.toString());
    }

    void put(String key, String text) {
        server.put(prefix + key, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void poison() {
        put("0-poison.json", "{\"id\": \"no number\"}\n");
    }

    /** Each object is a split. */
    @Override
    public boolean grows() {
        return true;
    }

    @Override
    public boolean goes() {
        server.goes();
        return true;
    }

    @Override
    public void comes() {
        server.comes();
    }
}
