package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.connector.Options;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Assumptions;

/** Reads files through the source "file" as an engine would, for tests: rows as text, rejected records as they are. */
final class FileScan implements SourceContext {
    final List<RejectedRecord> rejected = Collections.synchronizedList(new ArrayList<>());
    private final BufferAllocator allocator;
    private int batchRows = 4096;
    private Clock clock = Clock.system();
    private boolean failing;

    FileScan(BufferAllocator allocator) {
        this.allocator = allocator;
    }

    FileScan batchRows(int rows) {
        batchRows = rows;
        return this;
    }

    /** A bad record fails the query, as {@code on_error = 'fail'} has it. */
    FileScan failing() {
        failing = true;
        return this;
    }

    FileScan clock(Clock newClock) {
        clock = newClock;
        return this;
    }

    /** The folder of real data sets, or a skipped test that says so. */
    static Path data(String file) {
        String configured = Optional.ofNullable(System.getProperty("MILLRACE_DATA"))
                .or(() -> Optional.ofNullable(System.getenv("MILLRACE_DATA")))
                .orElse("");
        for (String folder : new String[] {configured, "../../shared/data", "../shared/data"}) {
            Path path = Path.of(folder.isEmpty() ? "." : folder).resolve(file);
            if (!folder.isEmpty()
                    && (Files.exists(path) || file.contains("*") && Files.isDirectory(path.getParent()))) {
                return path;
            }
        }
        String reason = "skipped: no " + file + " in MILLRACE_DATA or ../shared/data";
        System.out.println(reason);
        return Assumptions.abort(reason);
    }

    static Schema schema(Object... namesAndTypes) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < namesAndTypes.length; i += 2) {
            fields.add(new Field((String) namesAndTypes[i], (DataType) namesAndTypes[i + 1], true));
        }
        return new Schema(fields);
    }

    static Source source(Schema declared, String... options) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
        }
        return new FileSourceFactory().create(declared, new Options(map));
    }

    static List<Integer> allColumns(Source source) {
        return IntStream.range(0, source.schema().size()).boxed().toList();
    }

    /** All rows, fields joined by "|", NULL as "~". */
    List<String> rows(Source source) {
        return rows(source, allColumns(source), 1);
    }

    List<String> rows(Source source, List<Integer> columns, int parallelism) {
        List<String> rows = new ArrayList<>();
        each(source, columns, parallelism, batch -> {
            for (int row = 0; row < batch.rowCount(); row++) {
                rows.add(text(batch, row));
            }
        });
        return rows;
    }

    static String text(Batch batch, int row) {
        List<String> values = new ArrayList<>();
        for (int column = 0; column < batch.columnCount(); column++) {
            values.add(ValueText.format(batch, column, row).orElse("~"));
        }
        return String.join("|", values);
    }

    void each(Source source, List<Integer> columns, int parallelism, Consumer<Batch> consumer) {
        each(source, new ScanRequest(columns, List.of(), parallelism), consumer);
    }

    void each(Source source, ScanRequest request, Consumer<Batch> consumer) {
        List<SourceReader> readers = source.open(request, this);
        try {
            for (SourceReader reader : readers) {
                while (true) {
                    Optional<Batch> polled = reader.poll();
                    if (polled.isPresent()) {
                        try (Batch batch = polled.get()) {
                            consumer.accept(batch);
                        }
                    } else if (reader.isFinished()) {
                        break;
                    }
                }
            }
        } finally {
            readers.forEach(SourceReader::close);
        }
    }

    /** Rejected records as "line column sqlstate reason". */
    List<String> rejections() {
        return rejected.stream()
                .map(r -> r.position() + " " + r.column() + " " + r.sqlState().code() + " " + r.reason())
                .toList();
    }

    @Override
    public BufferAllocator allocator() {
        return allocator;
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public int batchRows() {
        return batchRows;
    }

    @Override
    public void wakeUp() {}

    @Override
    public void reject(RejectedRecord record) {
        if (failing) {
            throw MillraceException.user(record.sqlState(), record.reason());
        }
        rejected.add(record);
    }

    @Override
    public void report(RejectedRecord record) {
        rejected.add(record);
    }
}
