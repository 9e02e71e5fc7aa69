package dev.millrace.connectors.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Part;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SplitStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.time.Eventually;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The source against a real broker in this JVM. */
@Tag("peers")
@Timeout(120)
class KafkaSourceTest {
    private static final AtomicInteger TOPICS = new AtomicInteger();

    @TempDir
    private static Path folder;

    private static KafkaBroker broker;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @BeforeAll
    static void start() {
        broker = KafkaBroker.start(folder);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String newTopic(int partitions) {
        String name = "topic" + TOPICS.incrementAndGet();
        broker.topic(name, partitions);
        return name;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Numbers from..to, spread over the partitions, each row with its number as its time. */
    private static void write(String topic, int partitions, int from, int to) {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("compression.type", "lz4"))) {
            for (int i = from; i < to; i++) {
                producer.send(new ProducerRecord<>(topic, i % partitions, null, bytes(i + "," + i)));
            }
        }
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> Integer.toString(i))
                .sorted()
                .toList();
    }

    private static List<String> ids(List<String> rows) {
        return rows.stream()
                .map(row -> row.substring(0, row.indexOf('|')))
                .sorted()
                .toList();
    }

    private KafkaScan scan() {
        return new KafkaScan(memory.allocator(), false);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void everyRecordComesOnceInTheOrderOfItsPartition(int readers) {
        String topic = newTopic(3);
        write(topic, 3, 0, 30_000);
        try (KafkaScan scan = scan()) {
            scan.open(
                    scan.source(
                            broker.bootstrap(),
                            "topic",
                            topic,
                            "mode",
                            "once",
                            "include.partition",
                            "p",
                            "include.offset",
                            "o"),
                    readers);
            List<String> rows = scan.all();
            assertEquals(numbers(0, 30_000), ids(rows));
            long[] next = new long[3];
            for (String row : rows) {
                String[] values = row.split("\\|");
                assertEquals(next[Integer.parseInt(values[2])]++, Long.parseLong(values[3]), row);
            }
            assertEquals(3, scan.splits().size());
            assertTrue(
                    scan.splits().stream()
                            .allMatch(split -> split.lagRecords().orElse(-1) == 0 && split.records() == 10_000),
                    scan.splits()::toString);
        }
    }

    /** Poison, keys that are no text, tombstones, and a decoder that waits, and the readers are given up at any point. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void readersThatGoOnElsewhereGiveEachRecordOnce(int seed) {
        String topic = newTopic(4);
        SplittableRandom random = new SplittableRandom(seed);
        List<String> expected = new ArrayList<>();
        int bad = 0;
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 3_000; i++) {
                int kind = random.nextInt(100);
                byte[] key = kind == 0 ? new byte[] {(byte) 0xff} : kind < 50 ? bytes("k" + i) : null;
                byte[] value = kind == 1 ? null : bytes(kind == 2 ? "poison" : i + "," + i);
                bad += kind < 3 ? 1 : 0;
                if (kind >= 3) {
                    expected.add(i + "|" + (key == null ? "~" : "k" + i));
                }
                producer.send(new ProducerRecord<>(topic, random.nextInt(4), key, value));
            }
        }
        try (KafkaScan scan = scan().batchRows(1 + random.nextInt(30))) {
            Source source = scan.source(broker.bootstrap(), "topic", topic, "mode", "once", "include.key", "k");
            scan.open(source, 1 + random.nextInt(3));
            int reopened = 0;
            scan.untilSplit("the partitions are found", split -> split.split().contains("/"));
            for (int polls = random.nextInt(15); !scan.poll(); polls--) {
                if (polls <= 0 && reopened < 20) {
                    int before = scan.rows.size();
                    scan.reopen(source);
                    reopened++;
                    polls = random.nextInt(15);
                    if (random.nextInt(2) == 0) {
                        scan.unready(random.nextInt(20));
                    }
                    Eventually.holds("there is more", () -> scan.poll() || scan.rows.size() > before);
                }
            }
            assertTrue(reopened > 3, reopened + " times");
            assertEquals(
                    expected.stream().sorted().toList(),
                    scan.rows.stream()
                            .map(row -> row.replaceAll("\\|.*\\|", "|"))
                            .sorted()
                            .toList());
            assertEquals(
                    bad,
                    new HashSet<>(scan.rejected.stream()
                                    .map(record -> record.origin() + ":" + record.position())
                                    .toList())
                            .size());
        }
    }

    @Test
    void aBadRecordFailsTheScanAndLeavesNothingOpen() {
        String topic = newTopic(1);
        write(topic, 1, 0, 10);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            producer.send(new ProducerRecord<>(topic, bytes("poison")));
        }
        try (KafkaScan scan = new KafkaScan(memory.allocator(), true)) {
            scan.open(scan.source(broker.bootstrap(), "topic", topic, "mode", "once"), 1);
            assertEquals(
                    "no numbers",
                    assertThrows(MillraceException.class, () -> {
                                while (!scan.poll()) {
                                    Thread.onSpinWait();
                                }
                            })
                            .getMessage());
        }
    }

    @Test
    void partitionsAndTopicsThatComeLaterAreReadFromTheirBeginning() {
        String topic = newTopic(1);
        write(topic, 1, 0, 10);
        try (KafkaScan scan = scan()) {
            Source source = scan.source(
                    broker.bootstrap(),
                    "topic.pattern",
                    topic + "(-more)?",
                    "start",
                    "latest",
                    "discovery.interval",
                    "100ms");
            scan.open(source, 2);
            scan.untilSplit("the end is known", split -> split.position().equals("10"));
            broker.partitions(topic, 3);
            broker.topic(topic + "-more", 1);
            write(topic, 3, 100, 130);
            write(topic + "-more", 1, 200, 210);
            List<String> expected = new ArrayList<>(numbers(100, 130));
            expected.addAll(numbers(200, 210));
            assertEquals(expected.stream().sorted().toList(), ids(scan.all(40)));
            scan.reopen(source);
            write(topic, 3, 300, 310);
            expected.addAll(numbers(300, 310));
            assertEquals(expected.stream().sorted().toList(), ids(scan.all(50)));
        }
    }

    @Test
    void aBrokerThatWasAwayIsWaitedFor() {
        String topic = newTopic(2);
        write(topic, 2, 0, 100);
        try (KafkaScan scan = scan()) {
            scan.open(scan.source(broker.bootstrap(), "topic", topic, "discovery.interval", "200ms"), 1);
            scan.all(100);
            broker.stop();
            try {
                scan.untilSplit(
                        "it says what it waits for",
                        split -> split.waitsFor()
                                .filter(what -> what.equals("Kafka at " + broker.bootstrap()))
                                .isPresent());
                assertTrue(scan.splits().stream()
                        .allMatch(split ->
                                split.retries() > 0 && split.lastError().isPresent()));
            } finally {
                broker.begin();
            }
            write(topic, 2, 100, 200);
            assertEquals(numbers(0, 200), ids(scan.all(200)));
            scan.untilSplit("all is well", split -> split.waitsFor().isEmpty() && split.retries() == 0);
        }
    }

    @Test
    void recordsThatExpiredAreSaidAndReadingGoesOn() {
        String topic = newTopic(1);
        write(topic, 1, 0, 50);
        try (KafkaScan scan = scan().batchRows(10)) {
            Source source = scan.source(broker.bootstrap(), "topic", topic);
            scan.open(source, 1);
            scan.all(10);
            Source waiting = scan.source(broker.bootstrap(), "topic", topic, "expired", "wait");
            broker.expire(topic, 0, 30);
            scan.reopen(waiting);
            int before = scan.rows.size();
            scan.untilSplit(
                    "it waits", split -> split.waitsFor().orElse("").contains("have expired before they were read"));
            assertEquals(before, scan.rows.size());
            scan.reopen(source);
            List<String> expected = new ArrayList<>(numbers(0, before));
            expected.addAll(numbers(30, 50));
            assertEquals(expected.stream().sorted().toList(), ids(scan.all(expected.size())));
            assertEquals(
                    List.of(topic + "/0 " + before + " records " + before
                            + " to 29 have expired before they were read; reading goes on at 30"),
                    scan.rejected.stream()
                            .map(record -> record.origin() + " " + record.position() + " " + record.reason())
                            .toList());
        }
    }

    @Test
    void readingBeginsWhereItIsTold() {
        String topic = newTopic(2);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 10; i++) {
                long millis = 1_700_000_000_000L + 1_000 * i;
                producer.send(new ProducerRecord<>(topic, i % 2, millis, null, bytes(i + "," + i)));
            }
        }
        assertEquals(List.of("6", "7", "8", "9"), started(topic, "2023-11-14 22:13:26"));
        assertEquals(List.of("6", "7", "8", "9"), started(topic, "2023-11-14T23:13:26+01:00"));
        assertEquals(List.of("0", "2", "4", "6", "8", "9"), started(topic, "1=4"));
        assertEquals(List.of("8", "9"), started(topic, topic + "/0=4," + topic + "/1=4, 0=1"));
        assertEquals(List.of(), started(topic, "latest"));
    }

    private List<String> started(String topic, String start) {
        try (KafkaScan scan = scan()) {
            scan.open(scan.source(broker.bootstrap(), "topic", topic, "mode", "once", "start", start), 1);
            return ids(scan.all());
        }
    }

    @Test
    void recordsOfTransactionsThatWereAbortedAreNotSeen() {
        String topic = newTopic(1);
        try (KafkaProducer<byte[], byte[]> producer =
                broker.producer(Map.of("transactional.id", "writer of " + topic))) {
            producer.initTransactions();
            for (int i = 0; i < 6; i++) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(topic, bytes(i + "," + i)));
                producer.flush();
                if (i % 2 == 0) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }
        try (KafkaScan scan = scan()) {
            scan.open(scan.source(broker.bootstrap(), "topic", topic, "mode", "once"), 1);
            assertEquals(List.of("1", "3", "5"), ids(scan.all()));
        }
        try (KafkaScan scan = scan()) {
            scan.open(
                    scan.source(broker.bootstrap(), "topic", topic, "mode", "once", "isolation", "read_uncommitted"),
                    1);
            assertEquals(numbers(0, 6), ids(scan.all()));
        }
    }

    @Test
    void whatARecordHasBesideItsValueBecomesColumns() {
        String topic = newTopic(1);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            ProducerRecord<byte[], byte[]> one =
                    new ProducerRecord<>(topic, 0, 1_700_000_000_123L, bytes("kä"), bytes("1,1"));
            one.headers().add("trace", bytes("a\"b")).add("none", null).add("trace", bytes("c"));
            producer.send(one);
            producer.send(new ProducerRecord<>(topic, 0, 1_700_000_000_124L, null, bytes("2,2")));
        }
        try (KafkaScan scan = scan()) {
            scan.open(
                    scan.source(
                            broker.bootstrap(),
                            "topic",
                            topic,
                            "mode",
                            "once",
                            "include.key",
                            "k",
                            "include.topic",
                            "t",
                            "include.timestamp",
                            "at",
                            "include.headers",
                            "h"),
                    1);
            assertEquals(
                    List.of(
                            "1|1970-01-01 00:00:00.000001|kä|" + topic
                                    + "|2023-11-14 22:13:20.123+00|{\"none\": null, \"trace\": \"c\"}",
                            "2|1970-01-01 00:00:00.000002|~|" + topic + "|2023-11-14 22:13:20.124+00|{}"),
                    scan.all());
        }
    }

    /** A slow query's memory is bounded, and what waits comes when it asks. */
    @Test
    void whatNobodyAsksForIsNotFetchedWithoutEnd() {
        String topic = newTopic(1);
        int records = 60_000;
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("batch.size", 1 << 18))) {
            byte[] value = new byte[1_200];
            Arrays.fill(value, (byte) '0');
            value[value.length - 2] = ',';
            for (int i = 0; i < records; i++) {
                producer.send(new ProducerRecord<>(topic, value));
            }
        }
        try (KafkaScan scan = scan()) {
            scan.open(scan.source(broker.bootstrap(), "topic", topic), 1);
            long[] behind = {0};
            Eventually.holds(
                    "something waits",
                    () -> scan.splits().stream()
                            .anyMatch(split -> split.lagRecords().orElse(0) == records));
            Eventually.settles("what waits", () -> {
                behind[0] = waitingBytes(scan);
                return behind[0];
            });
            assertTrue(behind[0] > 8 << 20 && behind[0] < 50 << 20, behind[0] + " bytes wait");
            assertEquals(records, scan.all(records).size());
        }
    }

    private static long waitingBytes(KafkaScan scan) {
        return ((KafkaReader) scan.readers().get(0)).waitingBytes();
    }

    @Test
    void eventTimeIsHeldByThePartitionThatIsFurthestBehind() {
        String topic = newTopic(3); // the last stays empty, and holds nobody
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            producer.send(new ProducerRecord<>(topic, 0, null, bytes("1,500")));
            producer.send(new ProducerRecord<>(topic, 1, null, bytes("2,200")));
        }
        try (KafkaScan scan = scan().byTime()) {
            scan.open(scan.source(broker.bootstrap(), "topic", topic), 1);
            scan.all(2);
            Eventually.holds("time is where the last of the two is", () -> {
                scan.poll();
                Part part = scan.readers().get(0).part();
                return part.firstMicros() == 200 && part.nextMicros() == Part.NONE;
            });
            scan.reopen(scan.source(broker.bootstrap(), "topic", topic));
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                producer.send(new ProducerRecord<>(topic, 1, null, bytes("3,900")));
            }
            scan.all(3);
            Eventually.holds("now the other holds", () -> {
                scan.poll();
                return scan.readers().get(0).part().firstMicros() == 500;
            });
        }
    }

    @Test
    void whatIsNotThereIsSaidWhenAStreamIsMade() {
        try (KafkaScan scan = scan()) {
            String topic = newTopic(1);
            scan.source(broker.bootstrap(), "topic", topic).check();
            MillraceException noTopic = assertThrows(
                    MillraceException.class,
                    () -> scan.source(broker.bootstrap(), "topic", "nowhere").check());
            assertEquals("topic nowhere does not exist at Kafka at " + broker.bootstrap(), noTopic.getMessage());
            MillraceException noBroker = assertThrows(
                    MillraceException.class,
                    () -> scan.source("127.0.0.1:1", "topic", topic).check());
            assertEquals("Kafka at 127.0.0.1:1: no broker answers", noBroker.getMessage());
            assertTrue(noBroker.hint().orElse("").contains("advertised.listeners"));
            MillraceException noName = assertThrows(
                    MillraceException.class,
                    () -> scan.source("nowhere.invalid:9092", "topic", topic).check());
            assertEquals(
                    "Kafka at nowhere.invalid:9092: no broker's name is known to this machine", noName.getMessage());
            MillraceException otherProtocol = assertThrows(
                    MillraceException.class,
                    () -> scan.source(broker.bootstrap(), "topic", topic, "properties.security.protocol", "SSL")
                            .check());
            assertTrue(
                    otherProtocol.hint().orElse("").contains("check "),
                    otherProtocol.getMessage() + otherProtocol.hint());
        }
    }

    @Test
    void optionsThatCannotBeAreRefused() {
        refused("option \"isolaton\" does not exist", "isolaton", "read_committed");
        refused(
                "option \"properties.fetch.max.byte\" does not exist: Kafka's client has no property \"fetch.max.byte\"",
                "properties.fetch.max.byte",
                "1");
        refused(
                "option \"properties.group.id\" cannot be given: Millrace sets \"group.id\" itself",
                "properties.group.id",
                "g");
        refused("option \"start\" cannot be \"tomorrow\"", "start", "tomorrow");
        refused("option \"start\" cannot be \"0=-1\"", "start", "0=-1");
        refused("option \"start\" cannot be \"=\"", "start", "=");
        refused("option \"topic\" cannot be \"t\"; it must be left out", "topic.pattern", "t.*");
        refused("there is no format \"number\"", "format", "number");
        refused("column \"ts\" specified more than once", "include.offset", "ts");
        refused("option \"discovery.interval\" cannot be \"1ms\"", "discovery.interval", "1ms");
    }

    private void refused(String message, String option, String value) {
        try (KafkaScan scan = scan()) {
            MillraceException refused = assertThrows(
                    MillraceException.class, () -> scan.source("127.0.0.1:1", "topic", "t", option, value));
            assertTrue(refused.getMessage().startsWith(message), refused.getMessage());
        }
    }

    /** Positions lie on a disk: bytes that were changed are refused, or are another position, and nothing else. */
    @Test
    void positionsThatWereDamagedAreRefused() {
        KafkaPosition position = new KafkaPosition(
                true,
                List.of(
                        new KafkaPosition.Place(new TopicPartition("a", 0), 5, KafkaPosition.NO_END, 7),
                        new KafkaPosition.Place(new TopicPartition("bä", 1), -2, 9, Part.UNKNOWN)));
        byte[] written = position.written().bytes();
        assertEquals(position, KafkaPosition.read(new SourcePosition(written)));
        SplittableRandom random = new SplittableRandom(1);
        int refused = 0;
        for (int i = 0; i < 5_000; i++) {
            byte[] damaged =
                    Arrays.copyOf(written, random.nextInt(3) == 0 ? random.nextInt(written.length) : written.length);
            if (damaged.length > 0) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 + random.nextInt(255));
            }
            try {
                KafkaPosition.read(new SourcePosition(damaged));
            } catch (MillraceException e) {
                assertEquals("XX001", e.sqlState().code());
                refused++;
            }
        }
        assertTrue(refused > 1_000, refused + " were refused");
    }

    @Test
    void aStatusHasNoSecrets() {
        try (KafkaScan scan = scan()) {
            scan.open(
                    scan.source(
                            "127.0.0.1:1",
                            "topic",
                            "t",
                            "properties.security.protocol",
                            "SASL_PLAINTEXT",
                            "properties.sasl.mechanism",
                            "PLAIN",
                            "properties.sasl.jaas.config",
                            "${secret:login}"),
                    1);
            scan.untilSplit(
                    "it says what it waits for", split -> split.waitsFor().isPresent());
            SplitStatus only = scan.splits().get(0);
            assertEquals("topic t", only.split());
            assertTrue(!only.toString().contains("hunter2") && only.toString().contains("127.0.0.1:1"), only::toString);
        }
    }
}
