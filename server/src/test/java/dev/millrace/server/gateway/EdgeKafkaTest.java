package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.SocketWire;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.DirectoryImage;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What agents send is in topics of a broker, each segment once, and is read from there as it is at the server. */
@Tag("peers")
@Timeout(180)
class EdgeKafkaTest {
    private static final AtomicInteger TOPICS = new AtomicInteger();
    private static final String COLUMNS = "ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, load DOUBLE PRECISION";

    @TempDir
    private static Path brokerFolder;

    private static KafkaBroker broker;

    @TempDir
    private Path directory;

    private final Random random = new Random(123);
    private final BufferAllocator allocator = new RootAllocator();
    private final String topic = "plant" + TOPICS.incrementAndGet();
    private TestDatabase server;
    private EdgeGateway gateway;
    private int lines;

    @BeforeAll
    static void start() {
        broker = KafkaBroker.start(brokerFolder);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @BeforeEach
    void begin() {
        open(directory.resolve("db"));
    }

    private void open(Path data) {
        server = new TestDatabase(data);
        gateway = EdgeGateway.listen(
                server.database(),
                new Authentication.Trust(),
                List.of("localhost"),
                gateway == null ? 0 : gateway.port(),
                100,
                Optional.empty());
    }

    private void close() {
        gateway.close();
        server.close();
    }

    @AfterEach
    void end() {
        close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private List<String> rows(String sql) {
        return server.rows(sql);
    }

    /** The stream of devices, and a view of its rows. */
    private void plant(int partitions, String options) {
        broker.topic(topic, partitions);
        broker.topic(topic + "-bins", partitions);
        server.run("CREATE STREAM plant (" + COLUMNS + ") WITH (connector = 'edge', include.device = 'device',"
                + " kafka.bootstrap = '" + broker.bootstrap() + "', kafka.topic = '" + topic + "'" + options + ")");
        view("plant");
    }

    /** A stream that reads a topic, and a view of its rows. */
    private void reader(String name, String from, String options) {
        server.run("CREATE STREAM " + name + " (" + COLUMNS + ") WITH (connector = 'kafka', format = 'sketch',"
                + " include.device = 'device', bootstrap = '" + broker.bootstrap() + "', topic = '" + from + "'"
                + options + ")");
        view(name);
    }

    private void view(String stream) {
        server.run("CREATE MATERIALIZED VIEW of_" + stream + " AS SELECT device, ts, machine, temp, load, count(*) AS n"
                + " FROM " + stream + " GROUP BY device, ts, machine, temp, load");
    }

    private EdgeAgent agent(String device) throws IOException {
        Path data = Files.createDirectories(directory.resolve("edge").resolve(device.replace('/', '-')));
        Path input = directory.resolve(device.replace('/', '-') + ".csv");
        if (!Files.exists(input)) {
            Files.createFile(input);
        }
        EdgeConfig config = EdgeConfigFile.parse("""
                device = "%s", data = "%s", commit = 20ms, status = 20ms
                server { address = "localhost:%d", token = secret, tls = false }
                streams { plant {
                  columns = ["ts timestamp", "machine text", "temp double precision", "load double precision"]
                  time = ts, key = machine, keys = 50
                  input { type = file, path = "%s", format = csv }
                  sketch { rows = 20, error = 1%%, errors { load = 0.5 abs } }
                } }
                """.formatted(device, data, gateway.port(), input), "test");
        EdgeAgent.Machine machine =
                EdgeAgent.Machine.of(new RealDisk(data), allocator, InputStream.nullInputStream(), line -> {});
        return new EdgeAgent(
                config, machine, () -> new SocketWire(config.server().orElseThrow()));
    }

    /** Readings that wander further and further, so that bins change. */
    private void write(String device, int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            text.append("2026-01-01 %02d:%02d:%02d,m%d,%.3f,%s\n"
                    .formatted(
                            lines / 3600 % 24,
                            lines / 60 % 60,
                            lines % 60,
                            random.nextInt(3),
                            random.nextGaussian() * (10 + lines),
                            random.nextInt(9) == 0 ? "" : "%.2f".formatted(random.nextDouble() * 100)));
        }
        Files.writeString(directory.resolve(device.replace('/', '-') + ".csv"), text, StandardOpenOption.APPEND);
    }

    private static void drive(EdgeAgent agent, BooleanSupplier until) {
        Eventually.holds("what is driven comes", () -> {
            agent.step();
            return until.getAsBoolean();
        });
    }

    /** So many rows, until the stream has them all. */
    private void send(EdgeAgent agent, String device, int more) throws IOException {
        write(device, more);
        flush(agent);
        drive(agent, () -> agent.backlog("plant").records() == 0);
    }

    private static void flush(EdgeAgent agent) {
        while (agent.streams().get(0).step()) {}
        agent.streams().forEach(stream -> stream.flush());
    }

    private void awaitTopic() {
        Eventually.holds("the topic has all, and not " + rows("TABLE millrace.sources"), () -> waiting() == 0);
    }

    /** Segments that wait for the broker. */
    private long waiting() {
        return Long.parseLong(
                rows("SELECT lag_records FROM millrace.sources WHERE stream = 'plant' AND split LIKE 'kafka %'")
                        .get(0));
    }

    private void becomes(String expected, String sql) {
        try {
            Eventually.holds(sql, () -> rows(sql).equals(List.of(expected)));
        } catch (AssertionError e) {
            throw new AssertionError(rows(sql) + ", " + rows("TABLE millrace.rejected_rows"), e);
        }
    }

    private void becomesLike(String view, String other) {
        String sizes = "SELECT sum(n), count(*) FROM ";
        becomes(server.flushedRows(sizes + other).get(0), sizes + view);
        assertEquals(List.of("0"), rows("SELECT count(*) FROM (TABLE " + view + " EXCEPT TABLE " + other + ") AS d"));
    }

    private List<SketchHeader> headers() {
        return broker.records(topic).stream()
                .map(record -> SketchHeader.of(record.value()))
                .toList();
    }

    @Test
    void whatReadersOfTheTopicSeeIsWhatTheStreamHas() throws IOException {
        plant(3, "");
        List<EdgeAgent> agents = new ArrayList<>();
        for (String device : List.of("millrace/a", "millrace/b", "millrace/c d")) {
            EdgeAgent agent = agent(device);
            agents.add(agent);
            send(agent, device, 300 + random.nextInt(300));
        }
        reader("copy", topic, "");
        becomesLike("of_copy", "of_plant");
        for (int i = 0; i < 3; i++) {
            send(
                    agents.get(i),
                    List.of("millrace/a", "millrace/b", "millrace/c d").get(i),
                    200);
        }
        becomesLike("of_copy", "of_plant");
        assertEquals(List.of(Integer.toString(lines)), rows("SELECT sum(n) FROM of_copy"));
        assertTrue(
                headers().stream().anyMatch(header -> header.announcement() == Announcement.CHANGE),
                "bins were to change on the way");
        assertEquals(
                List.of("millrace/a", "millrace/b", "millrace/c d"),
                broker.records(topic).stream()
                        .map(record -> new String(record.key(), StandardCharsets.UTF_8))
                        .distinct()
                        .sorted()
                        .toList());
        assertEquals(List.of(), rows("TABLE millrace.rejected_rows"));
        agents.forEach(EdgeAgent::close);
    }

    @Test
    void aReaderThatBeginsLateNeedsOnlyTheBins() throws IOException {
        plant(1, "");
        EdgeAgent agent = agent("millrace");
        send(agent, "millrace", 400);
        awaitTopic();
        server.run("CREATE MATERIALIZED VIEW later AS SELECT device, ts, machine, temp, load, count(*) AS n"
                + " FROM plant GROUP BY device, ts, machine, temp, load");
        List<ConsumerRecord<byte[], byte[]>> before = broker.records(topic);
        long begin = before.get(before.size() - 1).offset() + 1;
        broker.expire(topic, 0, begin);
        send(agent, "millrace", 200);
        awaitTopic();
        assertTrue(
                headers().stream().allMatch(header -> header.announcement() != Announcement.COMPLETE),
                "nothing that is left can be read alone");
        reader("late", topic, ", start = '0=" + begin + "'");
        becomesLike("of_late", "later");
        broker.topic(topic + "-none", 1);
        reader("lost", topic, ", bins.topic = '" + topic + "-none', bins.timeout = '1ms', on_error = 'dead_letter'");
        becomes(
                Integer.toString(headers().size()),
                "SELECT count(*) FROM millrace.rejected_rows WHERE stream = 'lost'");
        agent.close();
    }

    /** Queries go on, devices keep what has no room, and nothing is missing when the broker is there again. */
    @Test
    void aBrokerThatIsAwayIsWaitedFor() throws IOException {
        plant(1, ", kafka.buffer_bytes = '65536'");
        EdgeAgent agent = agent("millrace");
        send(agent, "millrace", 100);
        awaitTopic();
        broker.stop();
        try {
            send(agent, "millrace", 100);
            assertEquals(List.of("200"), server.flushedRows("SELECT sum(n) FROM of_plant"));
            Eventually.holds(
                    "it is said",
                    () -> rows("SELECT waits_for FROM millrace.sources WHERE split LIKE 'kafka %'")
                            .get(0)
                            .contains(broker.bootstrap()));
            write("millrace", 20_000);
            flush(agent);
            drive(
                    agent,
                    () -> rows("SELECT waits_for FROM millrace.sources WHERE split LIKE 'kafka %'")
                            .get(0)
                            .contains("as many as may wait"));
            long waiting = waiting();
            assertTrue(waiting > 100 && waiting < 600, waiting + " segments wait at the server");
            assertTrue(agent.backlog("plant").records() > 0, "the others wait at the device");
            drive(agent, () -> rows("SELECT problem FROM millrace.edges").get(0).contains("as many as may wait"));
            server.run("ALTER STREAM plant EDGE ALL SET (sketch.rows = 30)");
            drive(agent, () -> agent.streams().get(0).settings().segmentRows() == 30);
        } finally {
            broker.begin();
        }
        drive(agent, () -> agent.backlog("plant").records() == 0);
        awaitTopic();
        reader("copy", topic, "");
        becomesLike("of_copy", "of_plant");
        assertEquals(List.of(Integer.toString(lines)), rows("SELECT sum(n) FROM of_copy"));
        agent.close();
    }

    /** When a server ends. */
    private enum Crash {
        BEFORE_IT_IS_FORGOTTEN,
        WHILE_IT_IS_DELIVERED,
        WITH_ALL_OF_IT_WAITING
    }

    /** The database is what a crash leaves: with segments that the broker has, and that it may not have. */
    @Test
    void aServerThatIsKilledWritesEachSegmentOnce() throws IOException {
        plant(2, "");
        EdgeAgent agent = agent("millrace");
        Path data = directory.resolve("db");
        for (Crash crash : Crash.values()) {
            Path crashed = directory.resolve(crash.name());
            broker.stop();
            try {
                send(agent, "millrace", 100 + random.nextInt(100));
                if (crash == Crash.WITH_ALL_OF_IT_WAITING) {
                    close();
                }
            } finally {
                broker.begin();
            }
            if (crash == Crash.WHILE_IT_IS_DELIVERED) {
                DirectoryImage.copy(data, crashed);
            }
            if (crash != Crash.WITH_ALL_OF_IT_WAITING) {
                awaitTopic();
                if (crash == Crash.BEFORE_IT_IS_FORGOTTEN) {
                    DirectoryImage.copy(data, crashed);
                }
                data = crashed;
                close();
            }
            open(data);
        }
        send(agent, "millrace", 50);
        awaitTopic();
        List<String> all = broker.records(topic).stream()
                .map(record -> new String(record.value(), StandardCharsets.ISO_8859_1))
                .toList();
        assertEquals(all.size(), all.stream().distinct().count());
        reader("copy", topic, ", isolation = 'read_committed'");
        becomesLike("of_copy", "of_plant");
        assertEquals(List.of(Integer.toString(lines)), rows("SELECT sum(n) FROM of_copy"));
        agent.close();
    }

    /** Brokers have more than a backup knows of: what it takes from then on is more again. */
    @Test
    void aBackupThatIsRestoredWritesOn() throws IOException {
        plant(1, "");
        EdgeAgent lost = agent("millrace/lost");
        send(lost, "millrace/lost", 100);
        awaitTopic();
        Path backup = DirectoryImage.copy(directory.resolve("db"), directory.resolve("backup"));
        send(lost, "millrace/lost", 100);
        awaitTopic();
        lost.close();
        close();
        int before = broker.records(topic).size();
        open(backup);
        EdgeAgent agent = agent("millrace/new");
        send(agent, "millrace/new", 100);
        awaitTopic();
        assertEquals(List.of("f"), rows("SELECT bool_or(last_error IS NOT NULL) FROM millrace.sources"));
        List<ConsumerRecord<byte[], byte[]>> all = broker.records(topic);
        assertTrue(all.size() > before + 4, "what came after the backup is there");
        assertEquals(
                all.size() - before,
                all.stream()
                        .filter(record -> new String(record.key(), StandardCharsets.UTF_8).equals("millrace/new"))
                        .count());
        agent.close();
    }

    /** A copy of the topic that is not exact: in another order, with doubles, damage, and without some bins; and before its bins. */
    @Test
    void aReaderDropsWhatComesTwiceAndWaitsForBins() throws IOException {
        plant(1, "");
        EdgeAgent agent = agent("millrace");
        send(agent, "millrace", 600);
        awaitTopic();
        String copy = topic + "-copy";
        broker.topic(copy, 2);
        broker.topic(copy + "-bins", 1);
        reader("copy", copy, ", on_error = 'dead_letter'");
        List<ConsumerRecord<byte[], byte[]>> segments = new ArrayList<>(broker.records(topic));
        Collections.shuffle(segments, random);
        List<ConsumerRecord<byte[], byte[]>> twice = segments.subList(0, 10);
        byte[] damaged = segments.get(20).value().clone();
        damaged[damaged.length - 1] ^= 1;
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            segments.forEach(each -> producer.send(new ProducerRecord<>(copy, each.key(), each.value())));
            twice.forEach(each -> producer.send(new ProducerRecord<>(copy, each.key(), each.value())));
            producer.send(new ProducerRecord<>(copy, segments.get(20).key(), damaged));
            producer.flush();
            Eventually.holds(
                    "it says what it waits for",
                    () -> rows("SELECT waits_for FROM millrace.sources WHERE query = 'of_copy'").stream()
                            .anyMatch(waits -> waits.contains("of the bins of millrace in topic " + copy + "-bins")));
            broker.records(topic + "-bins")
                    .forEach(each -> producer.send(new ProducerRecord<>(copy + "-bins", each.key(), each.value())));
            producer.send(new ProducerRecord<>(copy + "-bins", new byte[] {1}, new byte[] {2, 3}));
        }
        becomesLike("of_copy", "of_plant");
        String reasons = "SELECT count(*) FILTER (WHERE reason LIKE '%came twice%'), count(*) FILTER (WHERE reason LIKE"
                + " '%checksum%'), count(*) FILTER (WHERE reason LIKE '%is no bins%'), count(*) FROM"
                + " millrace.rejected_rows WHERE stream = 'copy'";
        becomes("10|1|1|12", reasons);
        becomesLike("of_copy", "of_plant");
        agent.close();
    }

    /** Of more bins than there may be in memory those that were announced first are forgotten, and what needs them is rejected. */
    @Test
    void whatIsKnownOfBinsIsBounded() throws IOException {
        plant(1, "");
        EdgeAgent agent = agent("millrace");
        send(agent, "millrace", 100);
        awaitTopic();
        long begin = headers().size();
        send(agent, "millrace", 100);
        awaitTopic();
        byte[] key = broker.records(topic + "-bins").get(0).key();
        StreamVersion version =
                VersionCodec.decode(broker.records(topic + "-bins").get(0).value());
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 6_000; i++) {
                StreamVersion other = new StreamVersion(
                        random.nextLong(),
                        1,
                        version.schemaVersion(),
                        version.schema(),
                        version.bins(),
                        version.clockwork(),
                        version.segmentRows());
                producer.send(new ProducerRecord<>(topic + "-bins", key, VersionCodec.encode(other)));
            }
        }
        long all = headers().size();
        List<ConsumerRecord<byte[], byte[]>> records = broker.records(topic);
        long offset = records.get((int) begin).offset();
        reader(
                "few",
                topic,
                ", start = '0=" + offset + "', bins.memory_mb = 1, bins.timeout = '1ms', on_error = 'dead_letter'");
        becomes(
                (all - begin) + "|t",
                "SELECT count(*), count(*) = count(*) FILTER (WHERE reason LIKE '%needs version%') FROM"
                        + " millrace.rejected_rows WHERE stream = 'few'");
        agent.close();
    }

    @Test
    void whatIsAskedWronglyIsRefused() {
        String edge = "CREATE STREAM plant (ts TIMESTAMP) WITH (connector = 'edge', kafka.";
        String at = "bootstrap = '" + broker.bootstrap() + "'";
        assertTrue(server.error(edge + "topic = 'a')").contains("option \"kafka.bootstrap\" is required"));
        assertTrue(server.error(edge + at + ")").contains("option \"kafka.topic\" is required"));
        assertTrue(server.error(edge + at + ", kafka.topic = 'a/b')").contains("option \"kafka.topic\" cannot be"));
        assertTrue(server.error(edge + at + ", kafka.topic = 'a', kafka.bins.topic = 'a')")
                .contains("another topic than that of the segments"));
        assertTrue(server.error(edge + at + ", kafka.topic = 'nowhere')").contains("topic nowhere does not exist"));
        assertTrue(server.error(edge + at + ", kafka.topic = 'a', kafka.properties.ssl.key.password = 'x')")
                .contains("\"kafka.properties.ssl.key.password\" is a secret"));
        assertTrue(server.error(edge + at + ", kafka.topic = 'a', kafka.properties.lingerms = '1')")
                .contains("\"kafka.properties.lingerms\" does not exist"));
        String sketch = "CREATE STREAM s (ts TIMESTAMP) WITH (format = 'sketch', " + at + ", connector = ";
        assertTrue(server.error(sketch + "'mqtt', url = 'mqtt://localhost', topic = 'a')")
                .contains("not available yet"));
        assertTrue(server.error(sketch + "'kafka', topic = 'a,b')").contains("option \"bins.topic\" is required"));
    }

    @Test
    void theExamplesRun() throws IOException {
        List<String> statements = DocumentPage.connectors().statements("Format `sketch`").stream()
                .map(text -> text.replace("localhost:9092", broker.bootstrap()))
                .toList();
        broker.topic("plant", 3);
        broker.topic("plant-bins", 3);
        statements.forEach(server::run);
        view("plant");
        view("plant_copy");
        EdgeAgent agent = agent("millrace");
        send(agent, "millrace", 100);
        becomesLike("of_plant_copy", "of_plant");
        agent.close();
    }
}
