package dev.millrace.testing.kafka;

import dev.millrace.testing.net.TestKeys;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * One broker that is its own controller (KRaft), with its files in a folder of the test. It can be stopped and begun again at the same
 * address. All calls wait for some seconds at most. Owned by one thread.
 */
public final class KafkaBroker implements AutoCloseable {
    /** Of the user {@code u} of a {@link #guarded} broker. */
    public static final String PASSWORD = "open sesame";

    private static final long PATIENCE_SECONDS = 30;

    private final Path folder;
    private final Optional<TestKeys> keys; // of one that is guarded, too
    private final int port;
    private final int guardedPort;
    private final int controllerPort;
    private Optional<KafkaRaftServer> server = Optional.empty(); // while it runs

    private KafkaBroker(Path folder, Optional<TestKeys> keys) {
        this.folder = folder;
        this.keys = keys;
        int[] free = freePorts();
        this.port = free[0];
        this.controllerPort = free[1];
        this.guardedPort = free[2];
    }

    /** A broker that runs, on a free port of this machine. */
    public static KafkaBroker start(Path folder) {
        return started(new KafkaBroker(folder, Optional.empty()));
    }

    /** One that is also at {@link #guardedBootstrap}, for who speaks TLS and logs in as {@code u} with SASL's mechanism PLAIN. */
    public static KafkaBroker guarded(Path folder, TestKeys keys) {
        return started(new KafkaBroker(folder, Optional.of(keys)));
    }

    private static KafkaBroker started(KafkaBroker broker) {
        broker.format();
        broker.begin();
        return broker;
    }

    private static int[] freePorts() {
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket third = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new int[] {one.getLocalPort(), other.getLocalPort(), third.getLocalPort()};
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void format() {
        try {
            new Formatter()
                    .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                    .setClusterId(Uuid.randomUuid().toString())
                    .setNodeId(1)
                    .addDirectory(folder.toString())
                    .setReleaseVersion(MetadataVersion.latestProduction())
                    .setControllerListenerName("CONTROLLER")
                    .run();
        } catch (Exception e) {
            throw new IllegalStateException("the broker's folder cannot be made", e);
        }
    }

    /** Runs it, again after {@link #stop}; what it had is there. */
    public void begin() {
        Properties config = new Properties();
        config.put("process.roles", "broker,controller");
        config.put("node.id", "1");
        config.put("listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
        config.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + port);
        config.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        config.put("controller.listener.names", "CONTROLLER");
        config.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        config.put("log.dirs", folder.toString());
        config.put("offsets.topic.replication.factor", "1");
        config.put("offsets.topic.num.partitions", "1");
        config.put("transaction.state.log.replication.factor", "1");
        config.put("transaction.state.log.min.isr", "1");
        config.put("transaction.state.log.num.partitions", "1");
        config.put("group.initial.rebalance.delay.ms", "0");
        config.put("auto.create.topics.enable", "false");
        config.put("num.network.threads", "1");
        config.put("num.io.threads", "2");
        config.put("log.cleaner.enable", "false");
        keys.ifPresent(own -> guard(config, own));
        KafkaRaftServer begun = new KafkaRaftServer(new KafkaConfig(config), Time.SYSTEM);
        server = Optional.of(begun);
        begun.startup();
    }

    private void guard(Properties config, TestKeys own) {
        String listener = "GUARDED://localhost:" + guardedPort;
        config.merge("listeners", "," + listener, (before, more) -> before + "" + more);
        config.merge("advertised.listeners", "," + listener, (before, more) -> before + "" + more);
        config.merge("listener.security.protocol.map", ",GUARDED:SASL_SSL", (before, more) -> before + "" + more);
        config.put("sasl.enabled.mechanisms", "PLAIN");
        config.put(
                "listener.name.guarded.plain.sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required user_u=\"" + PASSWORD + "\";");
        config.put("listener.name.guarded.ssl.keystore.type", "PEM");
        config.put("listener.name.guarded.ssl.keystore.certificate.chain", own.certificatePem());
        config.put("listener.name.guarded.ssl.keystore.key", own.keyPem());
    }

    /** Ends it; its files stay. */
    public void stop() {
        Optional<KafkaRaftServer> running = server;
        server = Optional.empty();
        running.ifPresent(KafkaRaftServer::shutdown);
        running.ifPresent(KafkaRaftServer::awaitShutdown);
    }

    public String bootstrap() {
        return "127.0.0.1:" + port;
    }

    /** The same of one that is guarded. */
    public String guardedBootstrap() {
        return "localhost:" + guardedPort;
    }

    /** Makes a topic. */
    public void topic(String name, int partitions) {
        with(admin -> admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1)))
                .all());
        Eventually.holds("the broker tells of topic " + name, () -> {
            AtomicBoolean isThere = new AtomicBoolean();
            with(admin -> admin.listTopics().names().thenApply(names -> {
                isThere.set(names.contains(name));
                return null;
            }));
            return isThere.get();
        });
    }

    /** Has a topic have so many partitions, more than before. */
    public void partitions(String topic, int count) {
        with(admin -> admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(count)))
                .all());
    }

    /** Removes all records of a partition before an offset. */
    public void expire(String topic, int partition, long before) {
        with(admin -> admin.deleteRecords(
                        Map.of(new TopicPartition(topic, partition), RecordsToDelete.beforeOffset(before)))
                .all());
    }

    /** What users of Kafka write with; the caller's. */
    public KafkaProducer<byte[], byte[]> producer(Map<String, Object> properties) {
        Properties all = new Properties();
        all.put("bootstrap.servers", bootstrap());
        // Several at once, the first of which came before the new topic did, wait for each other until they time out.
        all.put("max.in.flight.requests.per.connection", "1");
        all.putAll(properties);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** All records of a topic that readers may see now, those of a partition in their order. */
    public List<ConsumerRecord<byte[], byte[]>> records(String topic) {
        Properties all = new Properties();
        all.put("bootstrap.servers", bootstrap());
        all.put("isolation.level", "read_committed");
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long giveUpNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.getOrDefault(each, 0L))) {
                if (System.nanoTime() > giveUpNanos) {
                    throw new IllegalStateException("the records of " + topic + " do not come");
                }
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
        }
        return records;
    }

    private interface Question {
        KafkaFuture<?> ask(Admin admin);
    }

    private void with(Question question) {
        Properties all = new Properties();
        all.put("bootstrap.servers", bootstrap());
        try (Admin admin = Admin.create(all)) {
            question.ask(admin).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the broker did not do it", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        stop();
    }
}
