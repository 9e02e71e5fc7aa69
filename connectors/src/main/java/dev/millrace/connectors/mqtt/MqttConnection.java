package dev.millrace.connectors.mqtt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * One connection to a broker, for all streams and sinks that share it. A thread of its own connects, subscribes, and connects again, later and
 * later, when the broker was away; each time by a new client, as what one had in hand belongs to its connection.
 *
 * <pre>
 *   idle --begin--> connecting --CONNACK--> subscribing --SUBACK--> up
 *                     ^    failed: back-off                          |
 *                     +----------------------- lost -----------------+
 * </pre>
 *
 * Acknowledgements are of the connection on which a message came: a broker that is connected to anew sends it again, and may have given its
 * number to another.
 */
final class MqttConnection implements Runnable {
    private static final System.Logger LOG = System.getLogger(MqttConnection.class.getPackageName());
    private static final long FIRST_MILLIS = 200;
    private static final long MOST_MILLIS = 10_000;
    private static final long CLOSE_MILLIS = 3_000;
    private static final long LOOK_MILLIS = 100; // between two looks for streams that take nothing
    private static final int MOST_TOLD = 100; // topics
    private static final int MOST_TOPICS = 10_000; // whose streams are known

    private final MqttBroker broker;
    private final BrokerSession session;
    private final Clock clock;
    private final Consumer<MqttConnection> onClosed;
    private final Backoff backoff;
    private final List<MqttSubscription> subscriptions = new CopyOnWriteArrayList<>();
    private final Map<String, List<MqttSubscription>> takers =
            new ConcurrentHashMap<>(); // by topic, as far as was asked
    private final ExactlyOnce exactlyOnce;
    private final Set<String> unclaimed = ConcurrentHashMap.newKeySet(); // topics that were told of

    @GuardedBy("this") private int users;

    @GuardedBy("this") private boolean begun;

    @GuardedBy("this") private boolean ended;

    @GuardedBy("this") private boolean changed; // what is to be subscribed

    @GuardedBy("this") private boolean lost; // the connection that there was

    @GuardedBy("this") private final Set<TopicFilter> unwanted = new LinkedHashSet<>();

    @GuardedBy("this") private Optional<Thread> thread = Optional.empty();

    // the thread's
    private int next = 1; // generation
    private boolean wasAsked; // for a session, on this connection
    private boolean isUnanswered; // it was asked on an earlier one, and its answer did not come
    private final Set<TopicFilter> subscribed =
            ConcurrentHashMap.newKeySet(); // what the session has; written by the thread
    private volatile Optional<BrokerClient> client = Optional.empty(); // while it is connected; written by the thread
    private volatile int generation; // of connections; written by the thread, before there is a client of it
    private volatile Optional<String> lastError = Optional.empty(); // written by the thread and the client's
    private volatile Optional<String> waitsFor = Optional.empty(); // written by the thread
    private volatile long retries; // likewise

    MqttConnection(MqttBroker broker, BrokerSession session, Clock clock, Consumer<MqttConnection> onClosed) {
        this.broker = broker;
        this.session = session;
        this.clock = clock;
        this.onClosed = onClosed;
        this.backoff = new Backoff(FIRST_MILLIS, MOST_MILLIS, session.clientId().hashCode());
        this.exactlyOnce = new ExactlyOnce(new ExactlyOnce.Answers() {
            @Override
            public void received(int id, int of) {
                answer(of, to -> to.received(id));
            }

            @Override
            public void completed(int id, int of) {
                answer(of, to -> to.completed(id));
            }
        });
    }

    MqttBroker broker() {
        return broker;
    }

    BrokerSession session() {
        return session;
    }

    /** The client, while it is connected. */
    Optional<BrokerClient> client() {
        return client;
    }

    /** Which connection it is, of those that there were. */
    int generation() {
        return generation;
    }

    Optional<String> lastError() {
        return lastError;
    }

    Optional<String> waitsFor() {
        return waitsFor;
    }

    long retries() {
        return retries;
    }

    // ---- who has it
    // ------------------------------------------------------------------------------------------------

    /** Whether no topic can be of one of these filters and of another one that is there. */
    boolean admits(MqttSubscription another) {
        for (MqttSubscription each : subscriptions) {
            for (TopicFilter mine : each.filters()) {
                for (TopicFilter other : another.filters()) {
                    boolean same = mine.equals(other) && each.qos() == another.qos();
                    if (!same && mine.overlaps(other)) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    void add(MqttSubscription subscription) {
        subscriptions.add(subscription);
        takers.clear();
        synchronized (this) {
            users++;
            unwanted.removeAll(subscription.filters());
            changed = true;
            notifyAll();
        }
    }

    synchronized void retain() {
        users++;
    }

    /** Connects, if that has not begun: all streams that there are at first were added. */
    synchronized void begin() {
        if (!begun && !ended) {
            begun = true;
            Thread fresh = new Thread(this, "millrace-mqtt-" + session.clientId());
            fresh.setDaemon(true);
            thread = Optional.of(fresh);
            fresh.start();
        }
    }

    /** @param dropped whether the broker is to forget it, too */
    void remove(MqttSubscription subscription, boolean dropped) {
        subscriptions.remove(subscription);
        takers.clear();
        if (dropped) {
            Set<TopicFilter> others = new HashSet<>();
            subscriptions.forEach(each -> others.addAll(each.filters()));
            List<TopicFilter> own = subscription.filters().stream()
                    .filter(filter -> !others.contains(filter))
                    .toList();
            synchronized (this) {
                unwanted.addAll(own);
                changed = true;
                notifyAll();
            }
        }
        release();
    }

    /** Somebody has it no more; the last waits a little for the good-bye. */
    void release() {
        Optional<Thread> last = Optional.empty();
        synchronized (this) {
            if (--users == 0) {
                ended = true;
                last = thread;
                notifyAll();
            }
        }
        if (isEnded()) {
            onClosed.accept(this);
        }
        try {
            if (last.isPresent()) {
                last.get().join(CLOSE_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean isEnded() {
        return ended;
    }

    /** Whether the broker sends it its messages. */
    boolean hasSubscribed(MqttSubscription subscription) {
        return waitsFor.isEmpty() && client.isPresent() && subscribed.containsAll(subscription.filters());
    }

    // ---- the thread
    // ------------------------------------------------------------------------------------------------

    @Override
    public void run() {
        while (!isEnded()) {
            synchronized (this) {
                lost = false;
                generation = next++;
            }
            wasAsked = false;
            try (BrokerClient fresh = new BrokerClient(broker, session, clock, new Link(generation))) {
                up(fresh);
            } catch (BrokerException e) {
                failed(e.reason());
                pause(backoff.nextMillis());
            } catch (MillraceException e) { // of a secret that is not there, or the disk
                failed(String.valueOf(e.getMessage()));
                pause(backoff.nextMillis());
            } finally {
                client = Optional.empty();
            }
        }
    }

    /** What the client of one connection tells; of one that is gone nobody listens. */
    private final class Link implements BrokerClient.Listener {
        private final int mine;

        Link(int mine) {
            this.mine = mine;
        }

        @Override
        public void arrived(ArrivedMessage message) {
            if (mine == generation) {
                MqttConnection.this.arrived(message, mine);
            }
        }

        @Override
        public void released(int id) {
            if (mine == generation) {
                exactlyOnce.released(id, mine, subscriptions);
            }
        }

        @Override
        public void lost(String reason) {
            if (mine == generation) {
                MqttConnection.this.lost(reason);
            }
        }
    }

    private void up(BrokerClient fresh) throws BrokerException {
        client = Optional.of(fresh); // messages come before connect() returns, and are acknowledged by it
        if (subscribed.isEmpty()) {
            subscriptions.stream()
                    .filter(MqttSubscription::isRememberedAsSubscribed)
                    .forEach(each -> subscribed.addAll(each.filters()));
        }
        boolean isKnown;
        try {
            isKnown = fresh.connect(this::asks);
        } catch (BrokerException e) {
            isUnanswered |= wasAsked;
            throw e;
        }
        if (!isKnown) {
            exactlyOnce.clear();
            subscriptions.forEach(MqttSubscription::newSession);
        }
        if (!isKnown || isUnanswered) {
            subscribed.clear();
        }
        isUnanswered = false;
        do {
            subscribe(fresh);
            succeeded();
            while (!awaitChange()) {
                subscriptions.forEach(MqttSubscription::park);
            }
        } while (!isEnded());
        unsubscribe(fresh);
    }

    /** The broker makes a session now, if it has none; who does not hear that does not know whether what is subscribed is of an older one. */
    private void asks() {
        wasAsked = true;
        subscriptions.forEach(MqttSubscription::connecting);
    }

    /** Waits a moment for a change of what is to be subscribed; true if there is one, or all is over. */
    private synchronized boolean awaitChange() throws BrokerException {
        if (!changed && !lost && !ended) {
            try {
                wait(subscriptions.size() > 1 ? LOOK_MILLIS : 0); // one alone is in nobody's way
            } catch (InterruptedException e) {
                ended = true;
            }
        }
        if (lost) {
            throw new BrokerException(lastError.orElse("the connection is gone"));
        }
        return changed || ended;
    }

    private void subscribe(BrokerClient to) throws BrokerException {
        unsubscribe(to);
        synchronized (this) {
            changed = false;
        }
        for (MqttSubscription each : subscriptions) {
            List<TopicFilter> missing = each.filters().stream()
                    .filter(filter -> !subscribed.contains(filter))
                    .toList();
            if (!missing.isEmpty()) {
                to.subscribe(missing, each.qos());
                subscribed.addAll(missing);
            }
            each.subscribed();
        }
    }

    private void unsubscribe(BrokerClient from) throws BrokerException {
        List<TopicFilter> all;
        synchronized (this) {
            all = List.copyOf(unwanted);
            unwanted.clear();
        }
        if (!all.isEmpty()) {
            from.unsubscribe(all);
            all.forEach(subscribed::remove);
        }
    }

    private void failed(String reason) {
        retries = backoff.failures() + 1L;
        lastError = Optional.of(reason);
        if (waitsFor.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, broker + ": " + reason + "; trying again");
        }
        waitsFor = Optional.of(broker.toString());
    }

    private void succeeded() {
        if (waitsFor.isPresent()) {
            LOG.log(System.Logger.Level.INFO, broker + " is there again");
        }
        waitsFor = Optional.empty();
        retries = 0;
        backoff.succeeded();
    }

    private synchronized void pause(long millis) {
        try {
            if (!ended) {
                wait(Math.max(1, millis));
            }
        } catch (InterruptedException e) {
            ended = true;
        }
    }

    // ---- what the client tells
    // -------------------------------------------------------------------------------------

    private void lost(String reason) {
        lastError = Optional.of(reason);
        synchronized (this) {
            lost = true;
            notifyAll();
        }
    }

    private void arrived(ArrivedMessage message, int now) {
        List<MqttSubscription> wanting = takers(message.topic());
        if (wanting.isEmpty()) {
            unclaimed(message.topic());
        }
        switch (message.qos()) {
            case 0 -> wanting.forEach(each -> each.offer(message));
            case 1 -> arrivedOnce(message, now, wanting);
            default -> exactlyOnce.arrived(message, now, wanting);
        }
    }

    private List<MqttSubscription> takers(String topic) {
        List<MqttSubscription> known = takers.get(topic);
        if (known != null) {
            return known;
        }
        if (takers.size() >= MOST_TOPICS) {
            takers.clear();
        }
        // not after: who is added meanwhile clears what was found without it
        return takers.computeIfAbsent(
                topic,
                of -> subscriptions.stream().filter(each -> each.matches(of)).toList());
    }

    private void arrivedOnce(ArrivedMessage message, int now, List<MqttSubscription> wanting) {
        int id = message.id();
        if (wanting.isEmpty()) {
            acknowledge(id, now);
        } else if (wanting.size() == 1) {
            wanting.get(0).take(message, () -> acknowledge(id, now));
        } else {
            AtomicInteger left = new AtomicInteger(wanting.size());
            for (MqttSubscription each : wanting) {
                each.take(message, () -> {
                    if (left.decrementAndGet() == 0) {
                        acknowledge(id, now);
                    }
                });
            }
        }
    }

    /** Nobody has a stream for it: it was dropped just now, or could not be made again. */
    private void unclaimed(String topic) {
        if (unclaimed.size() < MOST_TOLD && unclaimed.add(topic)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    broker + ": a message of topic " + topic + " is for no stream, and is passed over");
        }
    }

    private void acknowledge(int id, int of) {
        answer(of, to -> to.acknowledge(id));
    }

    /** Tells the broker on one connection; if that is gone, it asks again on another. */
    private void answer(int of, Consumer<BrokerClient> answer) {
        Optional<BrokerClient> to = client;
        if (of == generation && to.isPresent()) {
            answer.accept(to.get());
        }
    }
}
