package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.server.session.DirectoryImage;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What agents send is in topics once, whatever becomes of the broker, the server and its directory. */
@Tag("peers")
@Timeout(180)
class EdgeKafkaOutagesTest extends KafkaPlant {
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
            if (crash == Crash.BEFORE_IT_IS_FORGOTTEN) {
                send(agent, "millrace", 100 + random.nextInt(100));
            } else {
                broker.stop();
                try {
                    send(agent, "millrace", 100 + random.nextInt(100));
                    if (crash == Crash.WITH_ALL_OF_IT_WAITING) {
                        close();
                    }
                } finally {
                    broker.begin();
                }
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
}
