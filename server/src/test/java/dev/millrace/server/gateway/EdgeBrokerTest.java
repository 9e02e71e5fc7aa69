package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.edge.link.BrokerWire;
import dev.millrace.edge.link.DeviceWire;
import dev.millrace.edge.mqtt.BrokerSocket;
import dev.millrace.edge.socket.RemoteHost;
import dev.millrace.edge.wire.BrokerPart;
import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import dev.millrace.server.config.EdgeBroker;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.storage.disk.RealDisk;
import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.WithMosquitto;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real agents, by way of a real broker, to a real database. */
@Tag("peers")
@WithMosquitto
class EdgeBrokerTest {
    private static final AtomicInteger TESTS = new AtomicInteger();

    @TempDir
    private Path directory;

    private Mosquitto broker = Mosquitto.shared();
    private final String topic = "plants/" + TESTS.incrementAndGet();
    private final BufferAllocator allocator = new RootAllocator();
    private TestDatabase server;
    private EdgeGateway gateway;
    private Path input;
    private int lines;

    @BeforeEach
    void begin() throws IOException {
        input = Files.createFile(directory.resolve("in.csv"));
        open();
        server.run("CREATE STREAM plant (ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION)"
                + " WITH (connector = 'edge', include.device = 'device')");
        server.run(
                "CREATE MATERIALIZED VIEW seen AS SELECT device, temp, count(*) AS n FROM plant GROUP BY device, temp");
    }

    private void open() {
        server = new TestDatabase(directory.resolve("db"));
        listen(EdgeBroker.at(broker.url(), topic));
    }

    private void listen(EdgeBroker at) {
        gateway = EdgeGateway.atBroker(server.database(), new Authentication.Trust(), 100, at);
    }

    /** One that others do not have. */
    private void useOwnBroker() throws IOException {
        gateway.close();
        broker = new Mosquitto(directory.resolve("broker"));
        listen(EdgeBroker.at(broker.url(), topic));
    }

    @AfterEach
    void end() {
        gateway.close();
        if (broker != Mosquitto.shared()) {
            broker.close();
        }
        server.close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private EdgeConfig config(String device, String more) {
        URI at = URI.create(broker.url());
        return EdgeConfigFile.parse(
                """
                device = "%s", data = "%s", commit = 20ms, status = 20ms
                server { transport = mqtt, address = "%s:%d", topic = "%s", token = secret, tls = false %s }
                streams { plant {
                  columns = ["ts timestamp", "machine text", "temp double precision"]
                  time = ts, key = machine
                  input { type = file, path = "%s", format = csv }
                  sketch { rows = 20 }
                } }
                """.formatted(device, directory, at.getHost(), at.getPort(), topic, more, input), "test");
    }

    /** One whose rows are messages of the broker. */
    private EdgeConfig listening(String format, String commit) {
        String text = """
                device = millrace, data = "%s", commit = %s, status = 20ms
                server { transport = mqtt, address = "%s:%d", topic = "%s", token = secret, tls = false }
                streams { plant {
                  columns = ["machine text", "temp double precision"], key = machine
                  input { type = mqtt, url = "%s", topics = ["%s/a/+", "%s/b"], format = %s, client_id = "in %s" }
                } }
                """;
        URI at = URI.create(broker.url());
        return EdgeConfigFile.parse(
                text.formatted(
                        directory,
                        commit,
                        at.getHost(),
                        at.getPort(),
                        topic,
                        broker.url(),
                        topic,
                        topic,
                        format,
                        topic),
                "test");
    }

    private EdgeAgent agent(EdgeConfig config, DeviceWire.Dialer dialer) throws IOException {
        Path data = Files.createDirectories(
                directory.resolve("edge").resolve(config.device().replace('/', '-')));
        EdgeAgent.Machine machine =
                EdgeAgent.Machine.of(new RealDisk(data), allocator, InputStream.nullInputStream(), line -> {});
        return new EdgeAgent(config, machine, dialer);
    }

    private EdgeAgent agent(EdgeConfig config) throws IOException {
        return agent(config, () -> dial(config));
    }

    private static DeviceWire dial(EdgeConfig config) {
        return BrokerWire.of(config.server().orElseThrow(), config.device(), new Random().nextLong());
    }

    private void write(int more) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < more; i++, lines++) {
            text.append("2026-01-01 %02d:%02d:%02d,m%d,%d\n"
                    .formatted(lines / 3600 % 24, lines / 60 % 60, lines % 60, lines % 3, lines));
        }
        Files.writeString(input, text, StandardOpenOption.APPEND);
    }

    private static void drive(EdgeAgent agent, BooleanSupplier until) {
        Eventually.holds("what is driven comes", () -> {
            agent.step();
            return until.getAsBoolean();
        });
    }

    private boolean hasAll() {
        return server.database().edgeInlets().status().stream()
                        .mapToLong(status -> status.kept().rows())
                        .sum()
                == lines;
    }

    private void assertEachOnce() {
        assertEquals(List.of("0"), server.flushedRows("SELECT count(*) FROM seen WHERE n <> 1"));
        assertEquals(
                List.of(lines + "|" + (lines - 1)), server.flushedRows("SELECT count(*), max(temp)::bigint FROM seen"));
    }

    private static void flush(EdgeAgent agent) {
        while (agent.streams().get(0).step()) {}
        agent.streams().forEach(stream -> stream.flush());
    }

    private static String problem(EdgeAgent agent) {
        return agent.health().orElseThrow().problem().orElse("");
    }

    @Test
    void rowsOfDevicesComeByTheBrokerAndTheyAreSteeredByIt() throws IOException {
        write(100);
        EdgeAgent agent = agent(config("millrace/pump 7+#", ""));
        flush(agent);
        drive(agent, this::hasAll);
        drive(agent, () -> agent.backlog("plant").records() == 0);
        assertEachOnce();
        server.run("ALTER STREAM plant EDGE 'millrace/pump 7+#' SET (sketch.rows = 5)");
        drive(
                agent,
                () -> server.flushedRows(
                                "SELECT device, connected, address, settings, settings_done, problem FROM millrace.edges")
                        .equals(List.of("millrace/pump 7+#|t|" + broker.url() + "|sketch.rows=5|t|")));
        assertEquals(5, agent.streams().get(0).settings().segmentRows());
        agent.close();
        Eventually.holds(
                "it is disconnected",
                () -> server.flushedRows("SELECT connected FROM millrace.edges").equals(List.of("f")));
    }

    /** Segments that are larger than a message, and than what a broker may take of one. */
    @Test
    void aSegmentMayBeLargerThanAMessage() throws IOException {
        StringBuilder text = new StringBuilder();
        Random random = new Random(3);
        for (; lines < 10; lines++) {
            text.append("2026-01-01 00:00:%02d,".formatted(lines));
            random.ints(100_000, 'a', 'z' + 1).forEach(letter -> text.append((char) letter));
            text.append(",%d\n".formatted(lines));
        }
        Files.writeString(input, text);
        EdgeAgent agent = agent(config("millrace", ""));
        flush(agent);
        assertTrue(agent.backlog("plant").bytes() > 4 * BrokerPart.MOST_BYTES, () -> "" + agent.backlog("plant"));
        drive(agent, this::hasAll);
        drive(agent, () -> agent.backlog("plant").records() == 0);
        assertEachOnce();
        agent.close();
    }

    /** The agent is killed, links break, exchange and repeat, the server begins again, and so does the broker. */
    @Test
    void eachRowIsThereOnceWhateverHappensOnTheWay() throws IOException {
        useOwnBroker();
        Random random = new Random(7);
        EdgeConfig config = config("millrace", "");
        for (int life = 0; life < 6; life++) {
            EdgeAgent agent = agent(config, () -> new DisorderlyWire(dial(config), random));
            for (int i = 0; i < 4; i++) {
                write(1 + random.nextInt(60));
                flush(agent);
                long before = server.database().edgeInlets().status().stream()
                        .mapToLong(status -> status.kept().segments())
                        .sum();
                boolean isWaitedFor = random.nextBoolean();
                for (int step = random.nextInt(30); step > 0; step--) {
                    agent.step();
                }
                if (isWaitedFor) {
                    drive(
                            agent,
                            () -> server.database().edgeInlets().status().stream()
                                            .mapToLong(status -> status.kept().segments())
                                            .sum()
                                    > before);
                }
            }
            if (life == 2) {
                gateway.close();
                server.close();
                open();
            }
            if (life == 4) {
                broker.stop();
                drive(
                        agent,
                        () -> !agent.health().orElseThrow().up()
                                && !problem(agent).isEmpty());
                broker.restart();
            }
            if (random.nextBoolean()) {
                agent.abandon();
            } else {
                agent.close();
            }
        }
        EdgeAgent agent = agent(config);
        flush(agent);
        drive(agent, this::hasAll);
        drive(agent, () -> agent.backlog("plant").records() == 0);
        assertEachOnce();
        agent.close();
    }

    /** The broker is believed no more than the device at its end: of what it loses or repeats nothing is taken. */
    @Test
    void aConnectionOfWhichTheBrokerLosesAMessageEndsAndWhatItRepeatsIsPassedOver() throws Exception {
        List<BrokerPart> answers = new ArrayList<>();
        URI at = URI.create(broker.url());
        BrokerSocket device = BrokerSocket.open(
                new RemoteHost(at.getHost(), at.getPort(), false, Optional.empty()),
                new BrokerSocket.Login("hostile", Optional.empty(), Optional.empty()),
                new BrokerSocket.Session(0, 100, 1 << 20, Optional.empty()));
        AtomicBoolean isSubscribed = new AtomicBoolean();
        AtomicBoolean isHeard = new AtomicBoolean();
        Thread reader = new Thread(() -> listen(device, answers, isSubscribed, isHeard));
        reader.start();
        device.subscribe(List.of(topic + "/down/millrace", topic + "/down/other"));
        String up = topic + "/up/millrace";
        Eventually.holds("the server listens, and so does the device", () -> {
            device.publish(up, "nothing".getBytes(StandardCharsets.UTF_8), true);
            return isSubscribed.get() && isHeard.get();
        });
        byte[] hello =
                MessageCodec.frame(new Message.Hello(Message.VERSION, "test", "millrace", "t", "millrace", 1, 0));
        byte[] ping = MessageCodec.frame(new Message.Ping(1, 1, 1));
        device.publish(up, new BrokerPart(5, 3, ping).encoded(), true); // of no connection
        await(answers, 1);
        assertEquals(BrokerPart.END, answers.get(0).number());
        device.publish(up, new BrokerPart(6, 0, hello).encoded(), true);
        device.publish(up, new BrokerPart(6, 0, hello).encoded(), true); // again
        await(answers, 2);
        assertTrue(message(answers.get(1)) instanceof Message.Welcome);
        device.publish(up, new BrokerPart(6, 1, ping).encoded(), true);
        device.publish(up, new BrokerPart(6, 1, ping).encoded(), true); // again
        await(answers, 3);
        assertTrue(message(answers.get(2)) instanceof Message.Pong);
        device.publish(up, new BrokerPart(6, 3, ping).encoded(), true); // and where is 2?
        await(answers, 5);
        assertTrue(((Message.Refused) message(answers.get(3))).text().contains("number 3 comes, and 2 has not"));
        assertEquals(BrokerPart.END, answers.get(4).number());
        device.publish(topic + "/up/other", new BrokerPart(7, 0, hello).encoded(), true); // by another's topic
        await(answers, 7);
        assertTrue(
                ((Message.Refused) message(answers.get(5))).text().contains("does not speak by the topic of its name"));
        device.publish(up, new BrokerPart(8, 0, hello).encoded(), true);
        await(answers, 8);
        assertTrue(message(answers.get(7)) instanceof Message.Welcome);
        device.close();
        reader.join();
    }

    private static void listen(
            BrokerSocket device, List<BrokerPart> answers, AtomicBoolean isSubscribed, AtomicBoolean isHeard) {
        try {
            device.read(new BrokerSocket.Listener() {
                @Override
                public void arrived(String topic, byte[] payload, int id) throws IOException {
                    device.acknowledge(id);
                    synchronized (answers) {
                        answers.add(BrokerPart.read(payload));
                    }
                }

                @Override
                public void subscribed() {
                    isSubscribed.set(true);
                }

                @Override
                public void published(boolean anybody) {
                    if (anybody) {
                        isHeard.set(true);
                    }
                }
            });
        } catch (IOException | InterruptedException e) {
            // it is closed
        }
    }

    private static void await(List<BrokerPart> answers, int count) {
        Eventually.holds("answer number " + count + " comes", () -> {
            synchronized (answers) {
                return answers.size() >= count;
            }
        });
    }

    private static Message message(BrokerPart part) {
        byte[] frame = part.bytes();
        java.nio.ByteBuffer head = java.nio.ByteBuffer.wrap(frame);
        return MessageCodec.read(
                head.getInt(4), java.util.Arrays.copyOfRange(frame, MessageCodec.HEAD_BYTES, frame.length));
    }

    /** Messages that were read and were not on disk when the agent was killed come again, and what came while it was away. */
    @Test
    void messagesOfABrokerAreRowsAndNoneIsLost() throws IOException {
        useOwnBroker();
        server.run("DROP VIEW seen");
        server.run("CREATE MATERIALIZED VIEW seen AS SELECT temp, count(*) AS n FROM plant GROUP BY temp");
        EdgeAgent killed = agent(listening("json", "1h"));
        drive(killed, () -> killed.streams().get(0).problem().isEmpty());
        broker.publish(topic + "/a/x", EdgeBrokerTest::json, 5);
        drive(killed, () -> killed.streams().get(0).openRows() > 0);
        killed.abandon();
        broker.publish(topic + "/b", i -> json(5 + i), 400);
        broker.publish(topic + "/c", i -> json(9999), 1); // which nobody asked for
        EdgeAgent agent = agent(listening("json", "50ms"));
        drive(agent, () -> agent.streams().get(0).counts().rows() >= 405);
        assertEquals(405, agent.streams().get(0).counts().rows());
        assertEquals(0, agent.streams().get(0).counts().rejected());
        flush(agent);
        drive(agent, () -> agent.backlog("plant").records() == 0);
        assertEquals(
                List.of("405|404|405"), server.flushedRows("SELECT count(*), max(temp)::bigint, sum(n) FROM seen"));
        agent.close();
        EdgeAgent csv = agent(listening("csv", "20ms"));
        broker.publish(topic + "/b", i -> "m,1000\nm,1001\nno number,x", 1);
        drive(csv, () -> csv.streams().get(0).counts().rejected() == 1);
        assertEquals(407, csv.streams().get(0).counts().rows());
        csv.close();
    }

    private static String json(int number) {
        return "{\r\n \"machine\": \"m\",\n \"temp\": %d\n}".formatted(number);
    }

    @Test
    void whatTheBrokerDoesNotLetInIsSaidAtTheDevice() throws IOException {
        write(3);
        EdgeAgent wrong = agent(config("millrace", ", broker-user = u, broker-password = wrong"));
        drive(
                wrong,
                () -> problem(wrong).contains("not authorized")
                        || problem(wrong).contains("user or password"));
        wrong.close();
        EdgeAgent right =
                agent(config("millrace", ", broker-user = u, broker-password = \"" + Mosquitto.PASSWORD + "\""));
        flush(right);
        drive(right, this::hasAll);
        gateway.close();
        String nobody = "the server is not at the broker: nobody reads " + topic + "/up/millrace";
        drive(
                right,
                () -> problem(right).contains("the server has closed it")
                        || problem(right).contains(nobody)); // if it looked again by then
        drive(right, () -> problem(right).contains(nobody));
        listen(EdgeBroker.at(broker.url(), topic));
        drive(right, () -> right.health().orElseThrow().up());
        right.close();
        assertEachOnce();
    }

    @Test
    void bothSidesSpeakToTheBrokerByTls() throws IOException {
        gateway.close();
        Path authority =
                Files.writeString(directory.resolve("ca.pem"), broker.own().certificatePem());
        listen(new EdgeBroker(
                "mqtts://localhost:" + broker.closedPort(),
                topic,
                Optional.of("server"),
                Optional.of("u"),
                Optional.of(Mosquitto.PASSWORD),
                Optional.of(authority),
                Optional.of(Files.writeString(
                        directory.resolve("own.pem"), broker.client().certificatePem())),
                Optional.of(Files.writeString(
                        directory.resolve("own.key"), broker.client().keyPem()))));
        write(30);
        EdgeConfig config = config("millrace", "");
        EdgeConfig.Server plain = config.server().orElseThrow();
        EdgeConfig.Server secure = new EdgeConfig.Server(
                new RemoteHost("localhost", broker.tlsPort(), true, Optional.of(authority)),
                plain.user(),
                plain.token(),
                plain.broker());
        EdgeAgent agent = agent(config, () -> BrokerWire.of(secure, "millrace", 1));
        flush(agent);
        drive(agent, this::hasAll);
        agent.close();
        EdgeConfig.Server unknown = new EdgeConfig.Server(
                new RemoteHost("localhost", broker.tlsPort(), true, Optional.empty()),
                plain.user(),
                plain.token(),
                plain.broker());
        EdgeAgent other = agent(config, () -> BrokerWire.of(unknown, "millrace", 1));
        drive(other, () -> problem(other).contains("no encrypted connection to localhost"));
        other.close();
        assertEachOnce();
    }
}
