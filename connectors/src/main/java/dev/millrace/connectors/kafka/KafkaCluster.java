package dev.millrace.connectors.kafka;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.ByteBufferDeserializer;

/**
 * Where brokers are and how to speak to them: the options {@code bootstrap} and {@code properties.*}. Immutable, safe on any thread;
 * clients that it makes are the caller's.
 *
 * @param properties as they were written, with references to secrets, which are looked up when a client is made
 */
record KafkaCluster(String bootstrap, Map<String, String> properties, Options.References references) {
    static final String PREFIX = "properties.";

    /** What we set ourselves, as the rest depends on it. */
    private static final Set<String> OURS = Set.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
            ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,
            ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG,
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
            ConsumerConfig.GROUP_ID_CONFIG,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.TRANSACTIONAL_ID_CONFIG,
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG);

    /** Records of a partition that are sent together at most; bytes. */
    private static final int BATCH_BYTES = 256 << 10;

    /** How long one question to the brokers may take; milliseconds. */
    static final int QUESTION_MILLIS = 5_000;

    KafkaCluster {
        properties = Map.copyOf(properties);
    }

    /** @param known the properties of the client that is made of it */
    static KafkaCluster read(Options options, Set<String> known) {
        return read(options, "", known);
    }

    /**
     * The same of options whose names begin with something.
     *
     * @param before what they begin with, before {@code bootstrap} and {@code properties.}
     */
    static KafkaCluster read(Options options, String before, Set<String> known) {
        String bootstrap = options.required(before + "bootstrap");
        String prefix = before + PREFIX;
        Map<String, String> properties = new HashMap<>();
        for (String name : List.copyOf(options.names())) {
            if (name.startsWith(prefix)) {
                properties.put(name.substring(prefix.length()), options.required(name));
            }
        }
        for (String name : properties.keySet()) {
            if (OURS.contains(name)) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "option \"" + prefix + name + "\" cannot be given: Millrace sets \"" + name
                                        + "\" itself")
                        .withHint(
                                "options of connector kafka say the same: bootstrap, topic, start, isolation, delivery");
            }
            if (!known.contains(name)) {
                MillraceException error = MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "option \"" + prefix + name + "\" does not exist: Kafka's client has no property \"" + name
                                + "\"");
                throw Suggestion.nearest(name, known)
                        .map(nearest -> error.withHint("did you mean \"" + prefix + nearest + "\"?"))
                        .orElse(error);
            }
        }
        properties.forEach((name, text) -> refuseOpenSecret(prefix, name, text));
        return new KafkaCluster(bootstrap, properties, options.references());
    }

    /** What Kafka takes for a password is not written in a definition, which others can read. */
    private static void refuseOpenSecret(String prefix, String name, String text) {
        boolean isSecret = Stream.of(ConsumerConfig.configDef(), ProducerConfig.configDef())
                .map(all -> all.configKeys().get(name))
                .anyMatch(key -> key != null && key.type == ConfigDef.Type.PASSWORD);
        if (isSecret) {
            Options.OpenSecret.refuse(prefix + name, text);
        }
    }

    /** The properties of consumers that may be given. */
    static Set<String> consumerProperties() {
        return new HashSet<>(ConsumerConfig.configNames());
    }

    /** The properties of producers that may be given. */
    static Set<String> producerProperties() {
        return new HashSet<>(ProducerConfig.configNames());
    }

    /** For users; without secrets. */
    @Override
    public String toString() {
        return "Kafka at " + bootstrap;
    }

    private Map<String, Object> resolved() {
        Map<String, Object> all = new HashMap<>();
        all.put(CommonClientConfigs.RECONNECT_BACKOFF_MS_CONFIG, "100");
        all.put(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, "2000");
        all.put(CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG, "20000");
        all.put(CommonClientConfigs.METRIC_REPORTER_CLASSES_CONFIG, ""); // no JMX beans for each scan
        all.put("enable.metrics.push", "false");
        properties.forEach((name, text) -> all.put(name, references.resolve(text)));
        all.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, references.resolve(bootstrap));
        return all;
    }

    /** A consumer of no group, which is told what to read and where to begin. */
    KafkaConsumer<ByteBuffer, ByteBuffer> consumer(boolean readCommitted, String clientId) {
        Map<String, Object> all = resolved();
        all.putIfAbsent(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "8192");
        all.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "200");
        all.putIfAbsent(ConsumerConfig.CLIENT_ID_CONFIG, clientId);
        all.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Integer.toString(QUESTION_MILLIS));
        all.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        all.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        all.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        all.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, readCommitted ? "read_committed" : "read_uncommitted");
        // A buffer is a view of what was fetched: no bytes are copied for it.
        return made(all, () -> new KafkaConsumer<>(all, new ByteBufferDeserializer(), new ByteBufferDeserializer()));
    }

    /** A producer; {@code own} beats what users gave. */
    KafkaProducer<byte[], byte[]> producer(Map<String, Object> own) {
        Map<String, Object> all = resolved();
        all.putIfAbsent(
                ProducerConfig.BATCH_SIZE_CONFIG,
                Integer.toString(BATCH_BYTES)); // a batch of Kafka's 16 kB is some sixty rows
        all.putAll(own);
        return made(all, () -> new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer()));
    }

    /** For questions about topics; each is given up after {@link #QUESTION_MILLIS}. */
    Admin admin() {
        Map<String, Object> all = resolved();
        all.keySet().retainAll(org.apache.kafka.clients.admin.AdminClientConfig.configNames());
        all.put(CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG, Integer.toString(QUESTION_MILLIS));
        all.put(CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG, Integer.toString(QUESTION_MILLIS));
        return made(all, () -> Admin.create(all));
    }

    /**
     * Looks whether topics are there. Waits some seconds at most.
     *
     * @throws MillraceException 42704 if one is not; 08006 if no broker answers
     */
    void requireTopics(List<String> topics) {
        try (Admin admin = admin()) {
            Set<String> there = admin.listTopics().names().get(QUESTION_MILLIS + 1_000L, TimeUnit.MILLISECONDS);
            List<String> missing =
                    topics.stream().filter(name -> !there.contains(name)).toList();
            if (!missing.isEmpty()) {
                throw MillraceException.user(
                                SqlState.UNDEFINED_OBJECT, "topic " + missing.get(0) + " does not exist at " + this)
                        .withHint(
                                there.isEmpty()
                                        ? "it has no topics"
                                        : "there are: "
                                                + String.join(
                                                        ", ",
                                                        new TreeSet<>(there)
                                                                .stream()
                                                                        .limit(20)
                                                                        .toList()));
            }
        } catch (ExecutionException | TimeoutException e) {
            throw failure(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
    }

    private interface Making<T> {
        T make();
    }

    /** Kafka's own exception is not passed on: it may have what references stand for. */
    private <T> T made(Map<String, Object> resolved, Making<T> client) {
        try {
            return client.make();
        } catch (KafkaException | IllegalArgumentException e) {
            KafkaFailure failure = KafkaFailure.of(e);
            String reason = failure.reason();
            for (Map.Entry<String, String> property : properties.entrySet()) {
                String value = String.valueOf(resolved.get(property.getKey()));
                if (!value.equals(property.getValue()) && !value.isEmpty()) {
                    reason = reason.replace(value, property.getValue());
                }
            }
            MillraceException told = MillraceException.external(SqlState.CONNECTION_FAILURE, this + ": " + reason);
            throw failure.hint().map(told::withHint).orElse(told);
        }
    }

    /** The failure as users see it: one line that names the brokers. */
    MillraceException failure(Exception e) {
        KafkaFailure failure = KafkaFailure.of(e);
        MillraceException told =
                MillraceException.external(SqlState.CONNECTION_FAILURE, this + ": " + failure.reason(), e);
        return failure.hint().map(told::withHint).orElse(told);
    }
}
