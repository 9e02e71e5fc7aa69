package dev.millrace.connectors.mqtt;

import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Consignment;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * What one stream has of a connection. Safe on any thread.
 *
 * <p>In the stream's memory there are, by name: {@code client}, the client id by which it is subscribed; {@code subscribed}, the filters that
 * the broker has taken; {@code connecting}, while it is not known whether the broker still has them; {@code session}, the number of the session of the broker, counted here; and of QoS 2 {@code taken
 * SESSION ID}, with nothing, for each message that is in the stream and that the broker has not released.
 */
final class MqttSubscription implements RecordReceiver.Transport {
    private static final String CLIENT = "client";
    private static final String SUBSCRIBED = "subscribed";
    private static final String CONNECTING = "connecting";
    private static final String SESSION = "session";
    private static final String TAKEN = "taken ";
    private static final byte[] NOTHING = {};

    private final MqttSource source;
    private final PushedContext context;
    private final ArrivalQueue inbox;
    private final ParkingLot lot;
    private final MqttConnection connection;
    private volatile Optional<String> parkingError = Optional.empty(); // written by the connection's thread
    private volatile boolean isDropped; // written by the stream's thread
    private volatile Session session; // written before the client is there, then by the connection's thread

    /** A session of the broker, in which an id is a message's until it is released. */
    private static final class Session {
        final long number;
        final Set<Integer> taken = ConcurrentHashMap.newKeySet(); // ids that are on disk

        Session(long number) {
            this.number = number;
        }

        String nameOf(int id) {
            return TAKEN + number + " " + id;
        }
    }

    MqttSubscription(MqttSource source, PushedContext context, ArrivalQueue inbox) {
        this.source = source;
        this.context = context;
        this.inbox = inbox;
        this.session = restored();
        this.lot = new ParkingLot(context.memory(), inbox, source.bufferBytes());
        lot.restore();
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

    private void forget(Set<String> names) {
        if (!names.isEmpty()) {
            context.memory().change(new MemoryChange(Map.of(), names));
        }
    }

    private String subscription() {
        return source.qos() + " " + source.filters();
    }

    /** It is about to be connected, after which the broker may have forgotten it: what is remembered of that counts when it was {@link #subscribed}. */
    void connecting() {
        if (remembered(SUBSCRIBED).isPresent()) {
            keep(CONNECTING, "");
        }
    }

    /** Whether the broker is known to have it, if it has the session. */
    boolean isRememberedAsSubscribed() {
        return remembered(SUBSCRIBED).equals(Optional.of(subscription()))
                && remembered(CONNECTING).isEmpty();
    }

    /** The broker has it. */
    void subscribed() {
        keep(SUBSCRIBED, subscription());
        forget(remembered(CONNECTING).map(text -> Set.of(CONNECTING)).orElse(Set.of()));
    }

    // ---- messages of QoS 2
    // ------------------------------------------------------------------------------------------

    private Session restored() {
        Session newest = new Session(remembered(SESSION).map(Long::parseLong).orElse(0L));
        Set<String> stale = new HashSet<>();
        String prefix = TAKEN + newest.number + " ";
        for (String name : context.memory().entries().keySet()) {
            if (name.startsWith(prefix)) {
                newest.taken.add(Integer.parseInt(name.substring(prefix.length())));
            } else if (name.startsWith(TAKEN)) {
                stale.add(name);
            }
        }
        forget(stale);
        return newest;
    }

    /** The broker knows no session, and gives ids anew. Nothing comes meanwhile. If it had one, it kept what is told to be lost. */
    void newSession() {
        if (source.qos() > 0 && remembered(SUBSCRIBED).isPresent()) {
            context.report(new RejectedRecord(
                    target(),
                    0,
                    "",
                    "the broker has forgotten the session, and with it messages that it kept while it was not connected",
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    ""));
        }
        if (source.qos() == 2) {
            Session old = session;
            Session fresh = new Session(old.number + 1);
            Set<String> names = old.taken.stream().map(old::nameOf).collect(Collectors.toSet());
            byte[] number = Long.toString(fresh.number).getBytes(StandardCharsets.UTF_8);
            context.memory().change(new MemoryChange(Map.of(SESSION, number), names));
            session = fresh;
        }
    }

    /** Whether a message is in the stream, on disk, that the broker has not released. */
    boolean knows(int id) {
        return session.taken.contains(id);
    }

    /** Takes a message with its id. @param kept called on the stream's thread, or at once */
    void takeOnce(ArrivedMessage message, Runnable kept) {
        if (!fits(message)) {
            kept.run();
            return;
        }
        Session of = session;
        int id = message.id();
        inbox.force(delivery(message, new MemoryChange(Map.of(of.nameOf(id), NOTHING), Set.of()), () -> {
            of.taken.add(id);
            kept.run();
        }));
    }

    /** Forgets the id of a message. @param forgotten called on the stream's thread */
    void forget(int id, Runnable forgotten) {
        Session of = session;
        MemoryChange change = new MemoryChange(Map.of(), Set.of(of.nameOf(id)));
        inbox.force(new Consignment(List.of(), id, "", change, rejected -> {
            of.taken.remove(id);
            forgotten.run();
        }));
    }

    /** Has the broker send what others of the connection are to have, if the stream has taken nothing for a while. By the connection's thread. */
    void park() {
        if (source.qos() > 0) {
            try {
                lot.park();
            } catch (MillraceException e) {
                parkingError = Optional.of(String.valueOf(e.getMessage())); // it is tried again
            }
        }
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
        return connection.lastError().or(() -> parkingError);
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
