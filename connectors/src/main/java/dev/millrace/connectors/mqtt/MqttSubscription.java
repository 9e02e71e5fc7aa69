package dev.millrace.connectors.mqtt;

import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Consignment;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What one stream has of a connection. Safe on any thread.
 *
 * <p>In the stream's memory there are, by name: {@code client}, the client id by which it is subscribed; {@code subscribed}, the filters that
 * the broker has taken; and of QoS 2
 *
 * <ul>
 *   <li>by version 3.1.1 {@code received ID}, a message that the broker has not released yet: the length of its topic (4 bytes), the topic in
 *       UTF-8, and what the client wants to have kept;
 *   <li>by version 5 {@code pending N}, a message that is not in the stream yet, with a number of its own ({@link PendingMessage}), and {@code last ID}, that number (8 bytes) and the print of the last
 *       message of an id, by which one is known that the broker sends again as it has no PUBREC of it.
 * </ul>
 */
final class MqttSubscription implements RecordReceiver.Transport {
    private static final String CLIENT = "client";
    private static final String SUBSCRIBED = "subscribed";
    private static final String RECEIVED = "received ";
    private static final String PENDING = "pending ";
    private static final String LAST = "last ";

    private final MqttSource source;
    private final PushedContext context;
    private final ArrivalQueue inbox;
    private final MqttConnection connection;
    private boolean isDropped; // the stream's thread's
    private volatile long pending; // the greatest number so far; written before the client is there, then by its thread

    MqttSubscription(MqttSource source, PushedContext context, ArrivalQueue inbox) {
        this.source = source;
        this.context = context;
        this.inbox = inbox;
        this.connection = source.connections().subscribe(source.broker(), this, context.clock());
        keep(CLIENT, connection.session().clientId());
    }

    // ---- what the connection asks
    // ----------------------------------------------------------------------------------

    /** Its name, if it outlives this process. */
    Optional<String> database() {
        return context.isDurable() ? Optional.of(context.database()) : Optional.empty();
    }

    String stream() {
        return context.stream();
    }

    boolean isPersistent() {
        return source.broker().terms().persistent().orElse(context.isDurable());
    }

    List<TopicFilter> filters() {
        return source.filters();
    }

    int qos() {
        return source.qos();
    }

    boolean matches(String topic) {
        for (TopicFilter filter : source.filters()) {
            if (filter.matches(topic)) {
                return true;
            }
        }
        return false;
    }

    // ---- memory
    // ----------------------------------------------------------------------------------------------------

    Optional<String> rememberedClient() {
        return remembered(CLIENT);
    }

    private Optional<String> remembered(String name) {
        return Optional.ofNullable(context.memory().entries().get(name))
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8));
    }

    private void keep(String name, String text) {
        if (isPersistent() && !remembered(name).equals(Optional.of(text))) {
            context.memory().change(new MemoryChange(Map.of(name, text.getBytes(StandardCharsets.UTF_8)), Set.of()));
        }
    }

    private String subscription() {
        return source.qos() + " " + source.filters();
    }

    /** Whether the broker is known to have it, if it has the session. */
    boolean isRememberedAsSubscribed() {
        return remembered(SUBSCRIBED).equals(Optional.of(subscription()));
    }

    /** The broker has it. */
    void subscribed() {
        keep(SUBSCRIBED, subscription());
    }

    private static String nameOf(int id) {
        return RECEIVED + id;
    }

    /** Keeps a message that is not released yet; it is kept when this returns. */
    void remember(int id, String topic, byte[] message) {
        byte[] name = topic.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + name.length + message.length);
        bytes.putInt(name.length).put(name).put(message);
        context.memory().change(new MemoryChange(Map.of(nameOf(id), bytes.array()), Set.of()));
    }

    /** What is kept of a message. */
    Optional<byte[]> received(int id) {
        return Optional.ofNullable(context.memory().entries().get(nameOf(id))).map(bytes -> {
            ByteBuffer from = ByteBuffer.wrap(bytes);
            from.position(Integer.BYTES + from.getInt());
            byte[] message = new byte[from.remaining()];
            from.get(message);
            return message;
        });
    }

    Set<Integer> receivedIds() {
        return context.memory().entries().keySet().stream()
                .filter(name -> name.startsWith(RECEIVED))
                .map(name -> Integer.parseInt(name.substring(RECEIVED.length())))
                .collect(Collectors.toSet());
    }

    /** Keeps a message of version 5, and has the stream take it, unless it is the last of its id. Called by one thread at a time. */
    void keepAndTake(ArrivedMessage message, boolean isRepeated) {
        byte[] print = PendingMessage.print(message);
        byte[] last = context.memory().entries().get(LAST + message.id());
        if (isRepeated && last != null && Arrays.equals(print, Arrays.copyOfRange(last, Long.BYTES, last.length))) {
            return;
        }
        if (!fits(message)) {
            return;
        }
        long number = pending + 1;
        pending = number;
        String name = PENDING + number;
        byte[] known = ByteBuffer.allocate(Long.BYTES + print.length)
                .putLong(number)
                .put(print)
                .array();
        context.memory()
                .change(new MemoryChange(
                        Map.of(name, PendingMessage.bytes(message), LAST + message.id(), known), Set.of()));
        inbox.force(delivery(message, new MemoryChange(Map.of(), Set.of(name)), () -> {}));
    }

    /** Has the stream take what was kept before the database was closed; counts on from there. */
    private void takePending() {
        Map<Long, byte[]> left = new TreeMap<>();
        context.memory().entries().forEach((name, bytes) -> {
            if (name.startsWith(PENDING)) {
                left.put(Long.parseLong(name.substring(PENDING.length())), bytes);
            } else if (name.startsWith(LAST)) {
                pending = Math.max(pending, ByteBuffer.wrap(bytes).getLong());
            }
        });
        left.forEach((number, bytes) -> {
            pending = Math.max(pending, number);
            MemoryChange moved = new MemoryChange(Map.of(), Set.of(PENDING + number));
            inbox.force(delivery(PendingMessage.read(bytes, context.clock().epochMicros()), moved, () -> {}));
        });
    }

    /** The broker gives ids anew. */
    void forgetIds() {
        Set<String> names = context.memory().entries().keySet().stream()
                .filter(name -> name.startsWith(LAST))
                .collect(Collectors.toSet());
        context.memory().change(new MemoryChange(Map.of(), names));
    }

    // ---- messages
    // --------------------------------------------------------------------------------------------------

    /** One that its sender does not wait for: it, or an older one, may be thrown away. */
    void offer(ArrivedMessage message) {
        if (fits(message)) {
            inbox.offerOrShed(delivery(message, MemoryChange.NONE, () -> {}), source.overload());
        }
    }

    /** One that the broker keeps until it is acknowledged. @param kept called on the stream's thread, or at once */
    void take(ArrivedMessage message, Runnable kept) {
        if (fits(message)) {
            inbox.force(delivery(message, MemoryChange.NONE, kept));
        } else {
            kept.run();
        }
    }

    /** One that is in the memory, which it leaves as it becomes a row. */
    void takeReceived(ArrivedMessage message, Runnable kept) {
        inbox.force(delivery(message, new MemoryChange(Map.of(), Set.of(nameOf(message.id()))), kept));
    }

    /** One that is in the memory, and that no broker knows any more. */
    void takeLeft(int id) {
        ByteBuffer from = ByteBuffer.wrap(context.memory().entries().get(nameOf(id)));
        byte[] topic = new byte[from.getInt()];
        from.get(topic);
        int header = from.getInt();
        from.position(from.position() + header);
        byte[] payload = new byte[from.remaining()];
        from.get(payload);
        takeReceived(
                new ArrivedMessage(
                        new String(topic, StandardCharsets.UTF_8),
                        payload,
                        2,
                        false,
                        id,
                        Optional.empty(),
                        context.clock().epochMicros()),
                () -> {});
    }

    private static Consignment delivery(ArrivedMessage message, MemoryChange change, Runnable kept) {
        return new Consignment(List.of(message.payload()), message, message.topic(), change, rejected -> kept.run());
    }

    /** Of version 5 the broker sends no larger ones. */
    private boolean fits(ArrivedMessage message) {
        boolean fits = message.payload().length <= source.broker().terms().mostPayloadBytes();
        if (!fits) {
            context.report(new RejectedRecord(
                    message.topic(),
                    0,
                    "",
                    "a message of " + message.payload().length + " bytes is larger than max_record_bytes",
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    ""));
        }
        return fits;
    }

    // ---- the transport
    // ---------------------------------------------------------------------------------------------

    @Override
    public void begin() {
        takePending();
        connection.begin();
    }

    @Override
    public String target() {
        return source.filters().stream().map(TopicFilter::text).collect(Collectors.joining(", ")) + " at "
                + source.broker();
    }

    @Override
    public String position() {
        return connection.hasSubscribed(this) ? "subscribed" : "";
    }

    @Override
    public Optional<String> lastError() {
        return connection.lastError();
    }

    @Override
    public Optional<String> waitsFor() {
        return connection.waitsFor();
    }

    @Override
    public long retries() {
        return connection.retries();
    }

    @Override
    public void dropped() {
        isDropped = true;
    }

    @Override
    public void close() {
        connection.remove(this, isDropped);
    }
}
