package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What agents send is in topics of a broker, and is read from there as it is at the server. */
@Tag("peers")
@Timeout(180)
class EdgeKafkaTest extends KafkaPlant {
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
        server.run("CREATE STREAM guessed WITH (connector = 'kafka', format = 'sketch', bootstrap = '"
                + broker.bootstrap() + "', topic = '" + topic + "')");
        server.run("CREATE MATERIALIZED VIEW g AS SELECT count(ts) AS n, count(machine) AS m FROM guessed");
        becomes(lines + "|" + lines, "TABLE g");
        assertEquals(List.of(), rows("TABLE millrace.rejected_rows"));
        agents.forEach(EdgeAgent::close);
    }

    @Test
    void aReaderThatBeginsLateNeedsOnlyTheBins() throws IOException {
        isSteady = true; // so that they are announced once, before what is left
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
                headers().stream().allMatch(header -> header.announcement() == Announcement.REFERENCE),
                "nothing that is left says what its bins are");
        reader("late", topic, ", start = '0=" + begin + "'");
        becomesLike("of_late", "later");
        broker.topic(topic + "-none", 1);
        reader("lost", topic, ", bins.topic = '" + topic + "-none', bins.timeout = '1ms', on_error = 'dead_letter'");
        becomes(
                Integer.toString(headers().size()),
                "SELECT count(*) FROM millrace.rejected_rows WHERE stream = 'lost'");
        agent.close();
    }

    /** Of a topic of bins that forgets, what a late reader needs has been written again: each version with the segments that announce it once more. */
    @Test
    void binsAreWrittenAgainWhereSegmentsAnnounceThemAgain() throws IOException {
        isSteady = true;
        plant(1, "");
        EdgeAgent agent = agent("millrace");
        send(agent, "millrace", 3 * 20 * 160); // more than 128 segments of each machine
        awaitTopic();
        Map<String, Long> lastOf = new TreeMap<>();
        Map<String, Integer> times = new TreeMap<>();
        for (ConsumerRecord<byte[], byte[]> each : broker.records(topic + "-bins")) {
            String key = new String(each.key(), StandardCharsets.UTF_8);
            lastOf.put(key, each.offset());
            times.merge(key, 1, Integer::sum);
        }
        assertEquals(3, times.size(), times::toString);
        assertTrue(times.values().stream().allMatch(count -> count == 2), times::toString);
        broker.expire(topic + "-bins", 0, Collections.min(lastOf.values()));
        List<ConsumerRecord<byte[], byte[]>> before = broker.records(topic);
        long begin = before.get(before.size() - 1).offset() + 1;
        broker.expire(topic, 0, begin);
        server.run("CREATE MATERIALIZED VIEW later AS SELECT device, ts, machine, temp, load, count(*) AS n"
                + " FROM plant GROUP BY device, ts, machine, temp, load");
        send(agent, "millrace", 200);
        awaitTopic();
        reader("late", topic, ", start = '0=" + begin + "'");
        becomesLike("of_late", "later");
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
