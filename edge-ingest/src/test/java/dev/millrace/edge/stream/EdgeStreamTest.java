package dev.millrace.edge.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Options;
import dev.millrace.connectors.Connectors;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.input.EdgeInputs;
import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.edge.queue.QueueOptions;
import dev.millrace.edge.queue.QueueRecord;
import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.queue.RejectedLines;
import dev.millrace.edge.queue.WhenFull;
import dev.millrace.error.MillraceException;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.time.Clock;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("long")
class EdgeStreamTest {
    private static final long SEED = Long.getLong("millrace.edge.stream.seed", 17);
    private static final QueueOptions QUEUE = new QueueOptions(16 << 20, 1 << 20, WhenFull.OLDEST, 2, () -> 5);

    @TempDir
    private Path directory;

    private final BufferAllocator allocator = new RootAllocator();
    private long mostOpenBytes = Long.MAX_VALUE;
    private final SimulatedDisk disk = new SimulatedDisk(SEED);

    @AfterEach
    void nothingIsLeft() {
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private EdgeStream open(EdgeConfig config, EdgeQueue queue, String stdin) {
        EdgeConfig.StreamConfig stream = config.streams().get(0);
        Options options = new Options(stream.input().options());
        return new EdgeStream(
                stream,
                queue,
                EdgeInputs.open(
                        stream.input(),
                        options,
                        queue.place(stream.name()),
                        Clock.system(),
                        new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8)),
                        directory),
                Connectors.formats(),
                options,
                Clock.system(),
                allocator,
                mostOpenBytes);
    }

    private static EdgeQueue queue(Disk disk) {
        return EdgeQueue.open(disk, QUEUE, new Coarsening());
    }

    private EdgeConfig config(String stream) {
        return EdgeConfigFile.parse(
                "device = d, data = \"" + directory + "\", streams { s { " + stream + " } }", "test");
    }

    /** All rows of the queue: of each its time and its values, NULL as such. */
    private static List<String> rows(EdgeQueue queue) {
        List<String> rows = new ArrayList<>();
        for (Sketch sketch : sketches(queue)) {
            for (int row = 0; row < sketch.rows(); row++) {
                rows.add(row(sketch, row));
            }
        }
        return rows;
    }

    private static List<Sketch> sketches(EdgeQueue queue) {
        List<Sketch> sketches = new ArrayList<>();
        long number = 1;
        for (Optional<EdgeQueue.Found> found = queue.take("s", number);
                found.isPresent();
                found = queue.take("s", number)) {
            QueueRecord record = found.get().record();
            number = record.to() + 1;
            if (!record.kind().hasRows()) {
                continue;
            }
            Versions versions = new Versions();
            if (record.needs() > 0) {
                versions.add(VersionCodec.decode(
                        queue.version("s", record.incarnation(), record.needs()).orElseThrow()));
            }
            Sketch sketch = SegmentCodec.read(found.get().bytes(), versions);
            assertEquals(record.rows(), sketch.rows());
            sketches.add(sketch);
        }
        return sketches;
    }

    private static String row(Sketch sketch, int row) {
        StringBuilder text = new StringBuilder().append(sketch.times().at(row));
        for (int f = 0; f < sketch.schema().size(); f++) {
            var column = sketch.column(f);
            int rank = column.sequence().ranks()[row];
            text.append(',');
            if (rank < column.symbols().size()) {
                text.append(
                        switch (sketch.schema().feature(f).kind()) {
                            case NUMBER -> "" + column.numbers().value(rank);
                            case WHOLE -> "" + column.numbers().whole(rank);
                            case BOOLEAN -> "" + (column.numbers().whole(rank) != 0);
                            case TEXT -> ((TextSymbols) column.symbols()).text(rank);
                        });
            }
        }
        return text.toString();
    }

    @Test
    void linesOfCsvBecomeSegmentsOfTypedValues() {
        EdgeConfig config = config("""
                columns = ["ts timestamp", "name text", "temp double precision", "n bigint", "ok boolean"]
                time = ts
                input { type = stdin, format = csv, skip_header = true }
                """);
        try (EdgeQueue queue = queue(disk);
                EdgeStream stream = open(config, queue, """
                        ts,name,temp,n,ok
                        1970-01-01 00:00:01,a,1.5,9007199254740993,true
                        1970-01-01 00:00:02,"b,c",,,
                        1970-01-01 00:00:03,a,2.25,-1,false""")) {
            while (!stream.isFinished()) {
                stream.step();
            }
            stream.flush();
            assertEquals(
                    List.of("1000000,a,1.5,9007199254740993,true", "2000000,b,c,,,", "3000000,a,2.25,-1,false"),
                    rows(queue));
        }
    }

    @Test
    void whatIsNoRowIsCountedAndSaid() {
        EdgeConfig config = config("""
                columns = ["ts timestamptz", "temp double precision"]
                time = ts
                input { type = stdin, format = json }
                """);
        try (EdgeQueue queue = queue(disk);
                EdgeStream stream = open(config, queue, """
                        {"ts":"1970-01-01T00:00:01Z","temp":1}
                        {"ts":"1970-01-01T00:00:02Z","temp":"warm"}
                        {"temp":3}
                        {"ts":"1970-01-01T00:00:04Z","temp":4}
                        """)) {
            while (!stream.isFinished()) {
                stream.step();
            }
            stream.flush();
            assertEquals(List.of("1000000,1.0", "4000000,4.0"), rows(queue));
            assertEquals(2, stream.counts().rejected());
            assertEquals("a row without a time", stream.counts().lastRejected().orElseThrow());
        }
    }

    /** Killed anywhere between two steps, again and again, while the file grows and is replaced. */
    @Test
    void eachLineOfAFollowedFileIsARowOnceHoweverOftenTheAgentIsKilled() throws IOException {
        Random random = new Random(SEED);
        Path file = directory.resolve("log.csv");
        Files.createFile(file);
        EdgeConfig config = config("""
                columns = ["ts timestamp", "machine text", "temp double precision"]
                time = ts, key = machine, keys = 3
                input { type = file, path = "%s", format = csv }
                sketch { rows = 50, segment = 1h }
                """.formatted(file));
        List<String> expected = new ArrayList<>();
        int lines = 0;
        int bad = 0;
        for (int life = 0; life < 60; life++) {
            EdgeQueue live = queue(disk);
            EdgeStream stream = open(config, live, "");
            for (int step = random.nextInt(12); step > 0; step--) {
                StringBuilder more = new StringBuilder();
                for (int i = random.nextInt(40); i > 0; i--) {
                    long second = lines % 50_000;
                    String machine = "m" + random.nextInt(5);
                    String time = "1970-01-01 %02d:%02d:%02d".formatted(second / 3600, second / 60 % 60, second % 60);
                    more.append(time)
                            .append(',')
                            .append(machine)
                            .append(',')
                            .append(lines)
                            .append('\n');
                    expected.add(second * 1_000_000 + "," + machine + "," + (double) lines);
                    lines++;
                    if (random.nextInt(10) == 0) {
                        more.append("no time,").append(machine).append(",1\n");
                        bad++;
                    }
                }
                Files.writeString(file, more, StandardOpenOption.APPEND);
                while (stream.step()) {
                    if (random.nextInt(3) == 0) {
                        stream.commit();
                    }
                }
            }
            if (random.nextInt(4) == 0) {
                stream.commit();
            }
            stream.close(); // and nothing is committed: as if it were killed
            live.close();
        }
        try (EdgeQueue queue = queue(disk);
                EdgeStream stream = open(config, queue, "")) {
            while (stream.step()) {}
            stream.flush();
            assertEquals(lines, stream.counts().rows());
            assertEquals(bad, stream.counts().rejected(), "counted once, as they are read again");
            List<String> rows = rows(queue);
            assertEquals(
                    expected.stream().sorted().toList(), rows.stream().sorted().toList());
            for (int m = 0; m < 5; m++) {
                String machine = ",m" + m + ",";
                assertEquals(
                        expected.stream().filter(row -> row.contains(machine)).toList(),
                        rows.stream().filter(row -> row.contains(machine)).toList(),
                        "in order by key");
            }
        }
    }

    @Test
    void openSegmentsOfManyKeysHaveNoMoreMemoryThanTheyMay() {
        EdgeConfig config = config("""
                columns = ["name text", "n bigint"]
                key = name, keys = 500
                input { type = stdin, format = csv }
                sketch { rows = 65536, segment = 1h }
                """);
        mostOpenBytes = 4 << 20;
        int rows = 500_000;
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < rows; i++) {
            lines.append('k').append(i % 500).append(',').append(i).append('\n');
        }
        try (EdgeQueue queue = queue(disk);
                EdgeStream stream = open(config, queue, lines.toString())) {
            while (!stream.isFinished()) {
                stream.step();
                stream.commit();
                // Of a row that waits there are three numbers of 8 bytes and two marks, and the arrays double as they
                // grow.
                assertTrue(stream.openRows() * 26 < 4 << 20, () -> stream.openRows() + " rows are open");
            }
            stream.flush();
            assertEquals(rows, rows(queue).size());
            int segments = sketches(queue).size();
            assertTrue(segments > 1000 && segments < 50_000, segments + " segments");
        }
    }

    @Test
    void settingsTakeEffectAtTheNextSegmentAndOutliveTheAgent() {
        EdgeConfig config = config("""
                columns = ["ts timestamp", "temp double precision"]
                time = ts
                input { type = stdin, format = csv }
                sketch { error = 0 }
                """);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 500; i++) {
            lines.append("1970-01-01 00:%02d:%02d,%s\n".formatted(i / 60, i % 60, 50 + 40 * Math.sin(i * .7)));
        }
        try (EdgeQueue queue = queue(disk)) {
            try (EdgeStream stream = open(config, queue, lines.toString())) {
                while (!stream.isFinished()) {
                    stream.step();
                }
                stream.commit(); // with an open segment, whose rows are not to come twice
                assertThrows(MillraceException.class, () -> stream.set(1, Map.of("sketch.eror", "1%")));
                stream.set(1, Map.of("sketch.error", "1 abs"));
            }
            try (EdgeStream stream = open(config, queue, lines.toString())) {
                assertEquals("1", stream.settings().bound("temp", true).toString());
                assertEquals(1, queue.settingsNumber("s"));
                while (!stream.isFinished()) {
                    stream.step();
                }
                stream.flush();
            }
            List<Sketch> sketches = sketches(queue);
            int rows = 0;
            for (Sketch sketch : sketches) {
                double error = sketch.column(0).numbers().error();
                assertEquals(rows < 500 ? 0 : 1, error);
                for (int row = 0; row < sketch.rows(); row++, rows++) {
                    double exact = 50 + 40 * Math.sin(rows % 500 * .7);
                    double kept = sketch.column(0)
                            .numbers()
                            .value(sketch.column(0).sequence().ranks()[row]);
                    assertTrue(Math.abs(exact - kept) <= error, exact + " became " + kept);
                }
            }
            assertEquals(1000, rows);
        }
    }

    @Test
    void whatIsMergedToAWiderBoundIsWithinTheBoundThatItSays() {
        SimulatedDisk small = new SimulatedDisk(SEED);
        EdgeConfig config = config("""
                columns = ["ts timestamp", "temp double precision", "name text", "n bigint"]
                time = ts
                input { type = stdin, format = csv }
                sketch { error = 0.05 abs, rows = 200 }
                """);
        Random random = new Random(SEED);
        List<Double> exact = new ArrayList<>();
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 400_000; i++) {
            double value = i % 1000 == 0 ? Double.NaN : 100 * random.nextGaussian();
            exact.add(value);
            lines.append("1970-01-%02d %02d:%02d:%02d,%s,x,%d\n"
                    .formatted(1 + i / 86_400, i / 3600 % 24, i / 60 % 60, i % 60, value, i));
        }
        QueueOptions options = new QueueOptions(1 << 20, 1 << 20, WhenFull.COARSER, 2, () -> 5);
        try (EdgeQueue queue = EdgeQueue.open(small, options, new Coarsening());
                EdgeStream stream = open(config, queue, lines.toString())) {
            while (!stream.isFinished()) {
                stream.step();
                stream.commit();
            }
            stream.flush();
            assertTrue(queue.bytes() <= 1 << 20);
            EdgeQueue.Backlog backlog = queue.backlog("s");
            assertTrue(backlog.shedding().coarserRows() > 0);
            int seen = 0;
            double widest = 0;
            long number = 1;
            for (Optional<EdgeQueue.Found> found = queue.take("s", number);
                    found.isPresent();
                    found = queue.take("s", number)) {
                QueueRecord record = found.get().record();
                number = record.to() + 1;
                if (!record.kind().hasRows()) {
                    seen += (int) record.rows();
                    continue;
                }
                Versions versions = new Versions();
                if (record.needs() > 0) {
                    versions.add(VersionCodec.decode(queue.version("s", record.incarnation(), record.needs())
                            .orElseThrow()));
                }
                Sketch sketch = SegmentCodec.read(found.get().bytes(), versions);
                var column = sketch.column(0);
                for (int row = 0; row < sketch.rows(); row++, seen++) {
                    assertEquals(seen * 1_000_000L, sketch.times().at(row));
                    int rank = column.sequence().ranks()[row];
                    double kept = column.numbers().value(rank);
                    double error = column.numbers().error(rank);
                    widest = Math.max(widest, error);
                    double was = exact.get(seen);
                    boolean within = Double.isNaN(was) ? Double.isNaN(kept) : Math.abs(was - kept) <= error;
                    assertTrue(within, was + " became " + kept + " within " + error);
                    var whole = sketch.column(2);
                    assertEquals(seen, whole.numbers().whole(whole.sequence().ranks()[row]));
                }
            }
            assertEquals(400_000, seen, "kept or shed");
            assertTrue(widest > .19 && widest < .81, "four or sixteen times .05: " + widest);
        }
    }

    /** The first three bins of the first column, of each segment from a number on. */
    private static List<List<Double>> centres(EdgeQueue queue, long from) {
        List<List<Double>> all = new ArrayList<>();
        for (long number = from; queue.from("s", number).isPresent(); number++) {
            QueueRecord record = queue.from("s", number).orElseThrow();
            int version = Math.max(record.needs(), record.defines());
            List<Double> centres = VersionCodec.decode(
                            queue.version("s", record.incarnation(), version).orElseThrow())
                    .bins()
                    .get(0)
                    .centres();
            all.add(centres.subList(0, Math.min(3, centres.size())));
        }
        return all;
    }

    @Test
    void binsOfOnesOwnCountFromTheNextSegmentOnAndAgainWhenItIsStartedAgain() {
        EdgeConfig config = config("""
                columns = ["ts timestamp", "temp double precision"]
                time = ts
                input { type = stdin, format = csv }
                sketch { error = 5 abs, rows = 100, segment = 1d }
                """);
        Random random = new Random(SEED);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            lines.append("1970-01-01 00:%02d:%02d,%s%n"
                    .formatted(i / 60, i % 60, random.nextBoolean() ? 42 : 100 * random.nextDouble()));
        }
        Map<String, String> own = Map.of("sketch.bins.temp", "0, 40, 44, 100", "sketch.evaluation", "off");
        try (EdgeQueue queue = queue(disk)) {
            try (EdgeStream stream = open(config, queue, lines.toString())) {
                while (!stream.isFinished()) {
                    stream.step();
                }
                stream.flush();
                stream.set(1, own);
            }
            assertEquals(List.of(List.of(), List.of(), List.of()), centres(queue, 1), "bins of one width have no list");
            queue.acknowledge("s", 3);
        }
        try (EdgeQueue queue = queue(disk)) {
            try (EdgeStream stream = open(config, queue, lines.toString())) {
                assertEquals(
                        Optional.of(List.of(0.0, 40.0, 44.0, 100.0)),
                        stream.settings().bins().own().get("temp").map(bins -> bins.edges()));
                while (!stream.isFinished()) {
                    stream.step();
                }
                stream.flush();
                MillraceException exact = assertThrows(
                        MillraceException.class,
                        () -> stream.set(2, Map.of("sketch.bins.temp", "density", "sketch.error", "0")));
                assertTrue(exact.getMessage().contains("is exact"), exact.getMessage());
                assertThrows(MillraceException.class, () -> stream.set(2, Map.of("sketch.bins.temp", "3, 2")));
                assertEquals(1, queue.settingsNumber("s"));
            }
            List<Double> middles = List.of(20.0, 42.0, 72.0);
            assertEquals(List.of(middles, middles, middles), centres(queue, 4));
        }
    }

    @Test
    void whatIsNoRowIsKeptForTheServerInItsPlaceOnce() {
        EdgeConfig config = config("""
                columns = ["ts timestamp", "n bigint"]
                time = ts
                input { type = file, path = "%s", format = csv }
                sketch { rows = 5 }
                """.formatted(directory.resolve("in.csv")));
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            lines.append("1970-01-01 00:00:%02d,%s%n".formatted(i, i % 2 == 0 ? i : "x" + i));
        }
        lines.append("broken\n");
        try (EdgeQueue queue = queue(disk)) {
            Files.writeString(directory.resolve("in.csv"), lines);
            EdgeStream killed = open(config, queue, "");
            while (killed.step()) {}
            killed.close(); // without a commit: all comes again
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        try (EdgeQueue queue = queue(disk);
                EdgeStream stream = open(config, queue, "")) {
            while (stream.step()) {}
            stream.flush();
            List<RejectedLines> rejected = new ArrayList<>();
            for (long number = 1; queue.from("s", number).isPresent(); number++) {
                EdgeQueue.Found found = queue.take("s", number).orElseThrow();
                if (found.record().kind() == RecordKind.REJECTED) {
                    rejected.add(RejectedLines.read(found.bytes()));
                }
            }
            assertEquals(1, rejected.size());
            assertEquals(21, rejected.get(0).all());
            assertEquals(RejectedLines.MOST, rejected.get(0).first().size());
            assertEquals("n", rejected.get(0).first().get(0).column());
            assertEquals(
                    "1970-01-01 00:00:01,x1", rejected.get(0).first().get(0).text());
            assertEquals(21, stream.counts().rejected());
            assertEquals(20, rows(queue).size());
        }
    }

    /** An agent whose file is another begins all the same, and the server hears that nothing it set is in effect. */
    @Test
    void whatIsSetAndDoesNotFitTheFileAnyMoreIsNotInEffect() {
        String stream = """
                columns = ["ts timestamp", "n %s"]
                time = ts
                input { type = stdin, format = csv }
                """;
        String program = "(1 (\"n\") (gt (column whole \"n\") (whole 3)))";
        try (EdgeQueue queue = queue(disk)) {
            try (EdgeStream before = open(config(stream.formatted("bigint")), queue, "")) {
                before.set(7, Map.of("rows", "queries", "query.q", program));
            }
            try (EdgeStream same = open(config(stream.formatted("int")), queue, "")) {
                assertEquals(7, same.settingsNumber());
                assertTrue(same.settings().rows().onlyNeeded());
            }
            try (EdgeStream other = open(config(stream.formatted("text")), queue, "1970-01-01 00:00:01,a")) {
                assertEquals(0, other.settingsNumber());
                while (!other.isFinished()) {
                    other.step(); // what it reads comes from a thread
                }
                other.flush();
                assertEquals(List.of("1000000,a"), rows(queue));
                assertThrows(
                        MillraceException.class, () -> other.set(7, Map.of("rows", "queries", "query.q", program)));
            }
        }
    }
}
