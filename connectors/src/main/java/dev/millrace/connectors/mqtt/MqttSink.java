package dev.millrace.connectors.mqtt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordEncoder;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Sends a message for each row, in their order, some ahead of their acknowledgements. An epoch is committed when the broker has all; what it had not
 * acknowledged when the connection was lost is sent again by the next. Called by one thread, which waits.
 */
final class MqttSink implements Sink {
    private static final long SILENT_NANOS =
            TimeUnit.SECONDS.toNanos(5); // after which a broker is said to be waited for
    private static final long DELIVERY_NANOS = TimeUnit.MINUTES.toNanos(5); // after which the sink fails
    private static final long LOOK_MILLIS = 50;

    /**
     * How messages are sent.
     *
     * @param inFlight that are not acknowledged, at most
     */
    record Manner(int qos, boolean retain, int inFlight) {}

    private record Message(long number, String topic, byte[] payload) {}

    private final MqttConnection connection;
    private final TopicTemplate topic;
    private final Manner manner;
    private final RecordEncoder encoder;
    private final TextBuffer text;

    @GuardedBy("this") private final Map<Long, Message> waiting = new LinkedHashMap<>(); // in order, until they are acknowledged

    @GuardedBy("this") private final Deque<Message> unsent = new ArrayDeque<>(); // of those, in order

    @GuardedBy("this") private long taken;

    @GuardedBy("this") private long progressNanos = System.nanoTime(); // of the last acknowledgement, or the first that waits

    @GuardedBy("this") private Optional<String> lastError = Optional.empty();

    @GuardedBy("this") private Optional<String> refusal = Optional.empty();

    @GuardedBy("this") private int generation; // of the connection that the others were sent by

    // the calling thread's
    private long number; // of messages
    private boolean closed;

    /** @param encoder is closed with this */
    MqttSink(
            MqttConnection connection,
            TopicTemplate topic,
            Manner manner,
            RecordEncoder encoder,
            BufferAllocator allocator) {
        this.connection = connection;
        this.topic = topic;
        this.manner = manner;
        this.encoder = encoder;
        this.text = new TextBuffer(allocator, 1024);
        connection.begin();
    }

    @Override
    public void check() {
        MqttSource.check(connection.broker());
    }

    @Override
    public void write(Batch batch) {
        long weights = batch.weightsAddress();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            String to = topic.of(batch, row);
            text.clear();
            encoder.encode(batch, row, text);
            byte[] payload = text.toBytes();
            for (long times = weight; times > 0; times--) {
                add(new Message(++number, to, payload));
                pump(manner.inFlight() - 1);
            }
        }
    }

    private synchronized void add(Message message) {
        if (waiting.isEmpty()) {
            progressNanos = System.nanoTime();
        }
        waiting.put(message.number(), message);
        unsent.add(message);
    }

    @Override
    public void commit(long epoch) {
        pump(0);
    }

    /** Sends what is not sent, and waits until no more than so many messages are not acknowledged. */
    private void pump(int most) {
        sendAll();
        while (count() > most) {
            try {
                synchronized (this) {
                    if (waiting.size() > most) {
                        wait(LOOK_MILLIS);
                    }
                    if (refusal.isPresent()) {
                        throw MillraceException.external(
                                SqlState.CONNECTION_FAILURE, connection.broker() + " refuses " + refusal.get());
                    }
                    if (!waiting.isEmpty() && System.nanoTime() - progressNanos > DELIVERY_NANOS) {
                        throw MillraceException.external(
                                SqlState.CONNECTION_FAILURE,
                                connection.broker() + " acknowledges nothing: "
                                        + lastError.or(connection::lastError).orElse("no answer"));
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw MillraceException.user(SqlState.QUERY_CANCELED, "the sink is closed while it writes");
            }
            sendAll();
        }
    }

    private synchronized int count() {
        return waiting.size();
    }

    private void sendAll() {
        Optional<BrokerClient> client = connection.client();
        if (client.isEmpty() || connection.waitsFor().isPresent()) {
            return;
        }
        int now = connection.generation();
        for (Optional<Message> next = next(now); next.isPresent(); next = next(now)) {
            Message message = next.get();
            if (!client.get()
                    .publish(new Publication(
                            message.topic(), message.payload(), manner.qos(), manner.retain(), answer(message, now)))) {
                return; // there is no room
            }
            sent(message, now);
        }
    }

    /** The first that was not sent by this connection. */
    private synchronized Optional<Message> next(int now) {
        if (now != generation) {
            generation = now;
            unsent.clear();
            unsent.addAll(waiting.values());
        }
        return Optional.ofNullable(unsent.peek());
    }

    private synchronized void sent(Message message, int now) {
        if (now == generation) {
            unsent.remove(message);
        }
    }

    private Publication.Answer answer(Message message, int by) {
        return new Publication.Answer() {
            @Override
            public void taken() {
                acknowledged(message.number());
            }

            @Override
            public void failed(String reason) {
                again(message, by, reason);
            }

            @Override
            public void refused(String reason) {
                MqttSink.this.refused("a message to " + message.topic() + ": " + reason);
            }
        };
    }

    private synchronized void refused(String what) {
        refusal = refusal.or(() -> Optional.of(what));
        lastError = refusal;
        notifyAll();
    }

    /** It is sent again: by the same connection after a while, by another at once. */
    private synchronized void again(Message message, int by, String reason) {
        lastError = Optional.of(reason);
        if (by == generation && waiting.containsKey(message.number())) {
            unsent.add(message);
        }
    }

    private synchronized void acknowledged(long of) {
        if (waiting.remove(of) != null) {
            taken++;
            progressNanos = System.nanoTime();
            notifyAll();
        }
    }

    @Override
    public synchronized Optional<SinkStatus> status() {
        long silentNanos = waiting.isEmpty() ? 0 : System.nanoTime() - progressNanos;
        Optional<String> waitsFor =
                silentNanos > SILENT_NANOS ? Optional.of(connection.broker().toString()) : connection.waitsFor();
        return Optional.of(new SinkStatus(
                topic + " at " + connection.broker(),
                taken,
                waiting.size(),
                TimeUnit.NANOSECONDS.toMicros(silentNanos),
                lastError.or(connection::lastError),
                waitsFor));
    }

    /** What is not committed may be lost: nobody waits for a broker. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try (RecordEncoder first = encoder;
                    TextBuffer second = text) {
                connection.release();
            }
        }
    }
}
