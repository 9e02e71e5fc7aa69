package dev.millrace.connectors.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.connectors.file.FileSourceFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.testing.connector.SourceOutside;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.time.Eventually;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.apache.arrow.memory.BufferAllocator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Tag("peers")
class S3SourceTest {
    private static final Schema NONE = new Schema(List.of());

    @RegisterExtension
    static final SharedServer SERVER = new SharedServer();

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private final List<RejectedRecord> rejected = new ArrayList<>();

    private SourceContext context() {
        return new SourceContext() {
            @Override
            public BufferAllocator allocator() {
                return memory.allocator();
            }

            @Override
            public Clock clock() {
                return Clock.system();
            }

            @Override
            public int batchRows() {
                return 100;
            }

            @Override
            public void wakeUp() {}

            @Override
            public void reject(RejectedRecord record) {
                rejected.add(record);
            }
        };
    }

    private List<SourceReader> open(Source source) {
        return source.open(new ScanRequest(List.of(0), List.of(), 2), context());
    }

    /** How many rows a source gives that ends. */
    private int rows(Source source) {
        return rows(open(source));
    }

    private static int rows(List<SourceReader> readers) {
        int[] rows = {0};
        List<MillraceException> failure = new ArrayList<>();
        try {
            Eventually.holds("the source ends", () -> {
                try {
                    rows[0] += polled(readers);
                } catch (MillraceException e) {
                    failure.add(e);
                }
                return !failure.isEmpty() || readers.stream().allMatch(SourceReader::isFinished);
            });
        } finally {
            readers.forEach(SourceReader::close);
        }
        if (!failure.isEmpty()) {
            throw failure.get(0);
        }
        return rows[0];
    }

    private static int polled(List<SourceReader> readers) {
        int rows = 0;
        for (SourceReader reader : readers) {
            var polled = reader.poll();
            if (polled.isPresent()) {
                try (Batch batch = polled.get()) {
                    rows += batch.rowCount();
                }
            }
        }
        return rows;
    }

    private static Source source(S3Outside outside, Schema schema, String pattern) {
        return new FileSourceFactory().create(schema, outside.options(outside.prefix() + pattern));
    }

    @Test
    void packedTextAndParquetAreReadAndTheirColumnsFound() throws IOException, SQLException {
        S3Outside csv = SERVER.outside("csv");
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write("id,name\n1,a\n2,b\n".getBytes(StandardCharsets.UTF_8));
        }
        SERVER.server().put(csv.prefix() + "day=1/a.csv.gz", packed.toByteArray());
        csv.put("day=2/b.csv", "id,name\n3,c\n");
        csv.put("day=2/not.txt", "no row");
        Source source = source(csv, NONE, "**/*.{csv,csv.gz}");
        assertEquals(List.of("id", "name"), source.schema().names());
        assertEquals(3, rows(source));

        S3Outside parquet = SERVER.outside("parquet");
        Path file = folder.resolve("x.parquet");
        try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = duck.createStatement()) {
            statement.execute("COPY (SELECT range AS n, 'v' AS t FROM range(5000)) TO '" + file + "' (FORMAT parquet)");
        }
        SERVER.server().put(parquet.prefix() + "x.parquet", Files.readAllBytes(file));
        Source lake = source(parquet, NONE, "*.parquet");
        assertEquals(List.of("n", "t"), lake.schema().names());
        assertEquals(5_000, rows(lake));
    }

    @Test
    void badRecordsAndDamagedObjectsAreNamedByTheirObjects() {
        S3Outside outside = SERVER.outside("json");
        outside.poison();
        assertEquals(0, rows(outside.source()));
        assertEquals(
                "s3://bucket/" + outside.prefix() + "0-poison.json",
                rejected.get(0).origin());
        S3Outside parquet = SERVER.outside("parquet");
        parquet.put("x.parquet", "no Parquet");
        Source damaged = source(parquet, SourceOutside.SCHEMA, "x.parquet");
        MillraceException said = assertThrows(MillraceException.class, () -> rows(damaged));
        assertTrue(said.getMessage().contains("s3://bucket/" + parquet.prefix() + "x.parquet"), said.getMessage());
    }

    @Test
    void anObjectThatIsAnotherByNowIsNotTakenForTheOneThatWasListed() {
        S3Outside outside = SERVER.outside("json");
        outside.append(0, 10);
        outside.append(10, 20);
        outside.append(20, 30);
        List<SourceReader> readers = open(outside.source());
        outside.put("000020.json", "{\"id\": 7}\n");
        MillraceException said = assertThrows(MillraceException.class, () -> rows(readers));
        assertEquals(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, said.sqlState());
    }

    @Test
    void aStoreThatIsAwayIsSaidToBeWaitedFor() {
        S3Outside outside = SERVER.outside("json", "mode", "follow", "s3.list_interval", "100 ms");
        List<SourceReader> readers = open(outside.source());
        try {
            outside.goes();
            Eventually.holds("it is waited for", () -> {
                polled(readers);
                return readers.get(0).splits().get(0).waitsFor().isPresent();
            });
            assertTrue(readers.get(0).splits().get(0).lastError().orElseThrow().contains("does not answer"));
            outside.comes();
            outside.append(0, 5);
            int[] rows = {0};
            Eventually.holds("rows come", () -> (rows[0] += polled(readers)) == 5);
            assertEquals(0, readers.get(0).splits().get(0).retries());
        } finally {
            readers.forEach(SourceReader::close);
        }
    }

    @Test
    void whatNamesNoObjectIsSaid() {
        S3Outside outside = SERVER.outside("json");
        assertEquals(
                "no object matches \"s3://bucket/" + outside.prefix() + "*.json\"",
                assertThrows(MillraceException.class, () -> rows(outside.source()))
                        .getMessage());
        assertThrows(MillraceException.class, () -> source(outside, SourceOutside.SCHEMA, "folder/"));
        assertThrows(MillraceException.class, () -> rows(source(outside, SourceOutside.SCHEMA, "gone.json")));
    }
}
