package dev.millrace.benchmarks.storage;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.storage.segment.ColumnSegmentWriter;
import dev.millrace.storage.segment.SegmentFile;
import dev.millrace.storage.segment.SegmentScan;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./millrace bench segments}: how small retained rows are, and how fast they are read by one thread. */
@Command(
        name = "segments",
        description =
                "Writes NEXMark's bids and the real data sets to segments of columns, and scans them by one thread; one JSON"
                        + " line for each, with the size of the same rows as Parquet with zstd.",
        mixinStandardHelpOptions = true)
public final class SegmentsCommand implements Callable<Integer> {
    private static final long MOST_BYTES = 4L << 30;
    private static final String SEGMENT = "bench.columns";
    private static final Schema TEXTS = Schema.of(
            new Field("name", DataType.TEXT, true),
            new Field("type", DataType.TEXT, true),
            new Field("null", DataType.TEXT, true),
            new Field("key", DataType.TEXT, true),
            new Field("default", DataType.TEXT, true),
            new Field("extra", DataType.TEXT, true));

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    @Option(names = "--data", description = "The directory of the sets (default: MILLRACE_DATA, or ../shared/data).")
    private Optional<Path> data = Optional.empty();

    @Option(
            names = "--events",
            defaultValue = "500000",
            description = "NEXMark's events, 92 in 100 of which are bids (default: ${DEFAULT-VALUE}).")
    private int events;

    @Option(
            names = "--seconds",
            defaultValue = "2",
            description = "How long each is scanned, after as long to warm up (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--only", description = "Only sets whose name contains this.")
    private String only = "";

    @Option(names = "--columns", description = "Also each column by itself.")
    private boolean columns;

    @Override
    public Integer call() throws IOException {
        Path place = Files.createTempDirectory("millrace-segments");
        try (BufferAllocator allocator = PooledAllocation.newRoot(MOST_BYTES);
                Oracle oracle = Oracle.open()) {
            if ("nexmark bids".contains(only)) {
                measureBids(place, oracle, allocator);
            }
            Path root = data.orElseGet(() ->
                    Path.of(Optional.ofNullable(System.getenv("MILLRACE_DATA")).orElse("../shared/data")));
            for (Path file : files(root)) {
                measureFile(file, root.relativize(file).toString(), place, oracle, allocator);
            }
            return 0;
        } finally {
            Folders.remove(place);
        }
    }

    /** The first file of each set. */
    private List<Path> files(Path root) throws IOException {
        List<Path> files = new ArrayList<>();
        if (!Files.isDirectory(root)) {
            System.err.println("no data sets in " + root);
            return files;
        }
        try (Stream<Path> sets = Files.list(root)) {
            for (Path set : sets.filter(Files::isDirectory).sorted().toList()) {
                try (Stream<Path> within = Files.walk(set)) {
                    within.filter(file -> file.toString().matches(".*\\.csv(\\.gz)?"))
                            .filter(file -> file.toString().contains(only))
                            .sorted()
                            .findFirst()
                            .ifPresent(files::add);
                }
            }
        }
        return files;
    }

    private void measureBids(Path place, Oracle oracle, BufferAllocator allocator) throws IOException {
        try (Database database = Database.open(DatabaseOptions.defaults().withWorkers(1));
                Session session = database.session()) {
            List<Batch> batches = new ArrayList<>();
            try {
                run(
                        session,
                        "CREATE STREAM bid WITH (connector = 'nexmark', table = 'bid', events = " + events + ")",
                        batches);
                run(session, "SELECT * FROM bid", batches);
                oracle.create("bids", batches.get(0).schema());
                batches.forEach(batch -> oracle.insert("bids", batch));
                measure("nexmark bids", batches, "SELECT * FROM bids", place, oracle, allocator);
            } finally {
                Closing.all(batches);
            }
        }
    }

    private static void run(Session session, String sql, List<Batch> rows) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows given) {
                        for (var next = given.next(); next.isPresent(); next = given.next()) {
                            rows.add(next.get());
                        }
                    }
                }
            }
        }
    }

    private void measureFile(Path file, String name, Path place, Oracle oracle, BufferAllocator allocator)
            throws IOException {
        String source = "read_csv_auto('" + file + "', sample_size = -1)";
        List<Batch> batches = new ArrayList<>();
        try {
            List<Field> fields = new ArrayList<>();
            List<String> casts = new ArrayList<>();
            for (Row column : oracle.query("DESCRIBE SELECT * FROM " + source, TEXTS)) {
                DataType type = type((String) column.get(1));
                fields.add(new Field((String) column.get(0), type, true));
                String quoted = "\"" + column.get(0) + "\"";
                casts.add(type.isText() ? "CAST(" + quoted + " AS VARCHAR) AS " + quoted : quoted);
            }
            String query = "SELECT " + String.join(", ", casts) + " FROM " + source;
            batches.add(TestBatches.of(new Schema(fields), allocator, oracle.query(query, new Schema(fields))));
            measure(name, batches, query, place, oracle, allocator);
        } catch (Oracle.OracleException e) {
            System.err.println("skipped because DuckDB cannot read it: " + name);
        } finally {
            Closing.all(batches);
        }
    }

    private static DataType type(String duckType) {
        return switch (duckType) {
            case "BOOLEAN" -> DataType.BOOLEAN;
            case "BIGINT" -> DataType.BIGINT;
            case "INTEGER" -> DataType.INTEGER;
            case "DOUBLE" -> DataType.DOUBLE;
            case "DATE" -> DataType.DATE;
            case "TIMESTAMP" -> DataType.TIMESTAMP;
            default -> DataType.TEXT;
        };
    }

    private void measure(
            String name, List<Batch> batches, String query, Path place, Oracle oracle, BufferAllocator allocator)
            throws IOException {
        Schema schema = batches.get(0).schema();
        Path parquet = place.resolve("bench.parquet");
        oracle.execute("COPY (" + query + ") TO '" + parquet + "' (FORMAT parquet, COMPRESSION zstd)");
        long parquetBytes = Files.size(parquet);
        Files.delete(parquet);
        Disk disk = new RealDisk(place);
        long start = threads.getCurrentThreadCpuTime();
        SegmentFile file;
        try (ColumnSegmentWriter out = ColumnSegmentWriter.create(disk, SEGMENT, schema)) {
            batches.forEach(out::append);
            file = out.finish();
        }
        long writing = threads.getCurrentThreadCpuTime() - start;
        try (ColumnSegment segment = ColumnSegment.open(disk, file, schema)) {
            List<Integer> all = IntStream.range(0, schema.size()).boxed().toList();
            Scanned scanned = scan(segment, all, allocator);
            System.out.println(String.format(
                    Locale.ROOT,
                    "{\"set\":\"%s\",\"rows\":%d,\"columns\":%d,\"mb\":%.2f,\"segment_bytes\":%d,\"parquet_zstd_bytes\":%d,"
                            + "\"times_parquet\":%.3f,\"scan_gb_per_cpu_s\":%.2f,\"scan_gb_per_s\":%.2f,\"write_mb_per_cpu_s\":%.0f}",
                    name,
                    file.rows(),
                    schema.size(),
                    scanned.bytes() / 1e6,
                    file.bytes(),
                    parquetBytes,
                    file.bytes() / (double) parquetBytes,
                    scanned.perCpuNano(),
                    scanned.perNano(),
                    scanned.bytes() * 1e3 / Math.max(1, writing)));
            for (int column : columns ? all : List.<Integer>of()) {
                Scanned one = scan(segment, List.of(column), allocator);
                System.out.println(String.format(
                        Locale.ROOT,
                        "{\"set\":\"%s\",\"column\":\"%s\",\"mb\":%.2f,\"stored_bytes\":%d,\"scan_gb_per_cpu_s\":%.2f}",
                        name,
                        schema.field(column).name(),
                        one.bytes() / 1e6,
                        one.stored(),
                        one.perCpuNano()));
            }
        } finally {
            disk.delete(SEGMENT);
        }
    }

    /**
     * @param bytes of the values of one scan, as vectors have them, without bits of NULL
     * @param stored bytes of one scan, as the file has them
     * @param perCpuNano bytes in a nanosecond of the thread's CPU, which is GB/s of a core
     * @param perNano the same of time that passed
     */
    private record Scanned(long bytes, long stored, double perCpuNano, double perNano) {}

    private Scanned scan(ColumnSegment segment, List<Integer> of, BufferAllocator allocator) {
        run(segment, of, allocator);
        return run(segment, of, allocator);
    }

    private Scanned run(ColumnSegment segment, List<Integer> of, BufferAllocator allocator) {
        long start = System.nanoTime();
        long cpu = threads.getCurrentThreadCpuTime();
        long end = start + seconds * 1_000_000_000L;
        long bytes = 0;
        long stored = 0;
        int rounds = 0;
        while (rounds == 0 || System.nanoTime() < end) {
            SegmentScan scan = segment.scan(of, List.of(), allocator);
            for (Optional<Batch> next = scan.next(); next.isPresent(); next = scan.next()) {
                try (Batch batch = next.get()) {
                    for (int column = 0; column < batch.columnCount(); column++) {
                        bytes += bytes(batch.column(column), batch.rowCount());
                    }
                }
            }
            stored = scan.bytesRead();
            rounds++;
        }
        double used = threads.getCurrentThreadCpuTime() - cpu;
        double passed = System.nanoTime() - start;
        return new Scanned(bytes / rounds, stored, bytes / used, bytes / passed);
    }

    private static long bytes(FieldVector vector, int rows) {
        return vector instanceof BaseVariableWidthVector texts
                ? 4L * rows + texts.getOffsetBuffer().getInt(4L * rows)
                : vector.getDataBuffer().writerIndex();
    }
}
