package dev.millrace.edge.link;

import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.edge.queue.QueueRecord;
import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.stream.EdgeStream;
import dev.millrace.edge.stream.SettingsText;
import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * Sends what the queue has. Not thread-safe.
 *
 * <pre>
 *   DOWN --time for a try--> GREETING --WELCOME--> UP
 *    ^                          |                   |
 *    +-- later and later -------+-- lost, refused --+
 * </pre>
 */
public final class EdgeLink implements AutoCloseable {
    private static final long SECOND = 1_000_000_000L;
    private static final long LEAST_PAUSE = SECOND / 2;
    private static final long MOST_PAUSE = 60 * SECOND;
    private static final long PING = 15 * SECOND;
    private static final long SILENCE = 45 * SECOND; // after which nobody is there any more
    private static final long GREETING = 20 * SECOND; // the same of who was greeted, which is answered at once
    private static final long WINDOW_BYTES = 1 << 20; // that are sent and not acknowledged
    private static final long OPEN_AGAIN = 30 * SECOND; // of a stream that waits for something at the server

    private static final long SET_AGAIN = SECOND; // of settings that the disk did not take
    private static final int MOST_TOLD = 1000; // versions; a reader keeps 1024

    private final String agent;
    private final Credentials credentials;
    private final EdgeQueue queue;
    private final List<Sending> streams = new ArrayList<>();
    private final DeviceWire.Dialer dialer;
    private final Clock clock;
    private final Random random;
    private final long statusNanos;
    private State state = State.DOWN;
    private Optional<DeviceWire> wire = Optional.empty();
    private long retryAt;
    private long pause = LEAST_PAUSE;
    private long heardAt;
    private long pingAt;
    private long statusAt;
    private long pingNanos; // when the last one was sent
    private long roundTripMicros;
    private long offsetMicros;
    private long bytesBefore; // of wires that have ended
    private Optional<String> problem = Optional.empty();

    private enum State {
        DOWN,
        GREETING,
        UP
    }

    /** Who a device says that it is. */
    public record Credentials(String device, String user, String token) {
        @Override
        public String toString() {
            return device; // and no token
        }
    }

    /**
     * How the link is.
     *
     * @param offsetMicros by how much the server's clock is ahead
     * @param bytes that went over it, both ways
     */
    public record Health(boolean up, long offsetMicros, long roundTripMicros, long bytes, Optional<String> problem) {}

    /** How far a stream is on this connection. */
    private static final class Sending {
        final int number;
        final EdgeStream stream;
        // Versions that the server knows, by a number for incarnation and version; the latest of them, as it keeps no
        // more.
        private final Set<Long> told = new LinkedHashSet<>();
        final Deque<long[]> sent = new ArrayDeque<>(); // last numbers and bytes, not acknowledged
        Optional<Message.Set> set = Optional.empty(); // that is not done yet
        long setAt; // when it is tried again, as the disk did not take it
        boolean opened;
        long openAt; // when it is asked again
        long next;
        long sentBytes;

        Sending(int number, EdgeStream stream) {
            this.number = number;
            this.stream = stream;
        }

        void begin() {
            told.clear();
            sent.clear();
            sentBytes = 0;
            opened = false;
        }

        /** Whether the server did not know a version, which it does from now on. */
        boolean tell(long incarnation, int version) {
            boolean news = told.add(
                    incarnation * 31 + version); // that two are the same by chance costs a question of the server
            if (told.size() > MOST_TOLD) {
                told.remove(told.iterator().next());
            }
            return news;
        }

        void acknowledged(long upTo) {
            while (!sent.isEmpty() && sent.element()[0] <= upTo) {
                sentBytes -= sent.remove()[1];
            }
        }
    }

    /** @param agent which program it is, for users of the server */
    public EdgeLink(
            String agent,
            Credentials credentials,
            EdgeQueue queue,
            List<EdgeStream> streams,
            DeviceWire.Dialer dialer,
            Clock clock,
            Random random,
            long statusMicros) {
        this.agent = agent;
        this.credentials = credentials;
        this.queue = queue;
        this.dialer = dialer;
        this.clock = clock;
        this.random = random;
        this.statusNanos = statusMicros * 1000;
        this.retryAt = clock.nanoTime();
        for (EdgeStream stream : streams) {
            this.streams.add(new Sending(this.streams.size(), stream));
        }
    }

    /**
     * Does what can be done now. @return whether there was anything
     *
     * @throws MillraceException 53100 or 58030 if the queue cannot be written: nothing more is sent before it can
     */
    public boolean step() {
        long now = clock.nanoTime();
        if (state == State.DOWN) {
            if (now - retryAt < 0) {
                return false;
            }
            greet(now);
            return true;
        }
        DeviceWire on = wire.orElseThrow();
        boolean any = false;
        for (Optional<Message> next = on.receive(); next.isPresent() && state != State.DOWN; next = on.receive()) {
            heardAt = now;
            take(next.get(), now);
            any = true;
        }
        if (state == State.DOWN) {
            return any;
        }
        Optional<String> failure = on.failure();
        if (failure.isPresent()) {
            lost(failure.get(), now);
            return true;
        }
        long patience = state == State.GREETING ? GREETING : SILENCE;
        if (now - heardAt > patience) {
            lost("the server has said nothing for " + patience / SECOND + " s", now);
            return true;
        }
        return state == State.UP && tend(on, now) || any;
    }

    private void greet(long now) {
        DeviceWire on = dialer.dial();
        wire = Optional.of(on);
        state = State.GREETING;
        heardAt = now;
        on.send(new Message.Hello(
                Message.VERSION,
                agent,
                credentials.user(),
                credentials.token(),
                credentials.device(),
                queue.identity(),
                clock.epochMicros()));
    }

    private void lost(String why, long now) {
        problem = Optional.of(why);
        wire.ifPresent(on -> {
            bytesBefore += on.bytes();
            on.close();
        });
        wire = Optional.empty();
        state = State.DOWN;
        streams.forEach(stream -> {
            stream.begin();
            stream.set = Optional.empty(); // the server says it again
        });
        retryAt = now + pause / 2 + (long) (random.nextDouble() * pause / 2); // so that a fleet does not come at once
        pause = Math.min(MOST_PAUSE, 2 * pause);
    }

    // ---- what comes
    // -------------------------------------------------------------------------------------------------

    private void take(Message message, long now) {
        if (message instanceof Message.Welcome) {
            state = State.UP;
            problem = Optional.empty();
            pingAt = now;
            statusAt = now;
            streams.forEach(this::open);
        } else if (message instanceof Message.Refused refused) {
            pause = refused.again() ? pause : MOST_PAUSE;
            lost(refused.text() + " (" + refused.sqlState() + ")", now);
        } else if (message instanceof Message.Opened opened) {
            of(opened.stream()).ifPresent(stream -> opened(stream, opened, now));
        } else if (message instanceof Message.Acknowledged acknowledged) {
            of(acknowledged.stream()).ifPresent(stream -> {
                stream.acknowledged(acknowledged.upTo());
                queue.acknowledge(stream.stream.name(), acknowledged.upTo());
                pause = LEAST_PAUSE; // all is well
            });
        } else if (message instanceof Message.NeedVersions need) {
            of(need.stream()).ifPresent(this::open);
        } else if (message instanceof Message.Set set) {
            of(set.stream()).ifPresent(stream -> {
                stream.set = Optional.of(set);
                stream.setAt = now;
            });
        } else if (message instanceof Message.Pong pong) {
            long elapsed = (now - pingNanos) / 1000;
            roundTripMicros = elapsed;
            offsetMicros = pong.micros() - (pong.pingMicros() + elapsed / 2);
        }
    }

    private Optional<Sending> of(int number) {
        return number >= 0 && number < streams.size() ? Optional.of(streams.get(number)) : Optional.empty();
    }

    /** Asks what the server has of a stream; until it says so nothing is sent. */
    private void open(Sending stream) {
        stream.begin();
        stream.openAt = Long.MAX_VALUE;
        wire.orElseThrow()
                .send(new Message.Open(
                        stream.number, stream.stream.name(), stream.stream.settingsNumber(), Message.Open.WINDOWS));
    }

    private void opened(Sending stream, Message.Opened opened, long now) {
        if (!opened.waitsFor().isEmpty()) {
            stream.begin();
            problem = Optional.of("stream " + stream.stream.name() + ": " + opened.waitsFor());
            stream.openAt = now + OPEN_AGAIN;
            return;
        }
        problem = Optional.empty();
        String name = stream.stream.name();
        long forgotten = queue.backlog(name).acknowledged();
        queue.settle(name, opened.acknowledged());
        stream.begin();
        stream.opened = true;
        stream.openAt = Long.MAX_VALUE;
        stream.next = opened.acknowledged() + 1;
        if (stream.next <= forgotten) { // the server had it and has not: nobody has it any more
            wire.orElseThrow()
                    .send(new Message.Rows(
                            stream.number, stream.next, forgotten, RecordKind.LOST, 0, 0, 0, new byte[0]));
            stream.next = forgotten + 1;
        }
    }

    private void set(Sending stream, Message.Set set, DeviceWire on, long now) {
        String error = "";
        if (set.number() != stream.stream.settingsNumber()) {
            try {
                stream.stream.set(set.number(), SettingsText.read(set.text()));
            } catch (MillraceException e) {
                if (e.sqlState() == SqlState.DISK_FULL || e.sqlState() == SqlState.IO_ERROR) {
                    stream.setAt = now + SET_AGAIN; // what it has is sent meanwhile, which makes room
                    return;
                }
                error = String.valueOf(e.getMessage());
            }
        }
        stream.set = Optional.empty();
        on.send(new Message.SetDone(stream.number, set.number(), error));
    }

    // ---- what goes
    // --------------------------------------------------------------------------------------------------

    private boolean tend(DeviceWire on, long now) {
        boolean any = false;
        for (Sending stream : streams) {
            if (stream.set.isPresent() && now - stream.setAt >= 0) {
                set(stream, stream.set.get(), on, now);
                any = true;
            }
            if (!stream.opened && now - stream.openAt >= 0 && stream.openAt != Long.MAX_VALUE) {
                open(stream);
                any = true;
            }
            any |= stream.opened && send(stream, on);
        }
        if (now - pingAt >= 0) {
            pingAt = now + PING;
            pingNanos = now;
            on.send(new Message.Ping(clock.epochMicros(), roundTripMicros, offsetMicros));
        }
        if (now - statusAt >= 0) {
            statusAt = now + statusNanos;
            streams.forEach(stream -> on.send(status(stream)));
        }
        return any;
    }

    private boolean send(Sending stream, DeviceWire on) {
        String name = stream.stream.name();
        boolean any = false;
        while (stream.sentBytes < WINDOW_BYTES / streams.size()) {
            Optional<EdgeQueue.Found> found = queue.take(name, stream.next);
            if (found.isEmpty()) {
                return any;
            }
            QueueRecord record = found.get().record();
            if (record.needs() > 0 && stream.tell(record.incarnation(), record.needs())) {
                queue.version(name, record.incarnation(), record.needs())
                        .ifPresent(bytes -> on.send(new Message.Version(stream.number, bytes)));
            }
            if (record.defines() > 0) {
                stream.tell(record.incarnation(), record.defines());
            }
            on.send(new Message.Rows(
                    stream.number,
                    record.from(),
                    record.to(),
                    record.kind(),
                    record.rows(),
                    record.firstMicros(),
                    record.lastMicros(),
                    found.get().bytes()));
            long bytes = 64L + found.get().bytes().length;
            stream.sent.add(new long[] {record.to(), bytes});
            stream.sentBytes += bytes;
            stream.next = record.to() + 1;
            any = true;
        }
        return any;
    }

    private Message.Status status(Sending stream) {
        EdgeStream.Counts counts = stream.stream.counts();
        EdgeQueue.Backlog backlog = queue.backlog(stream.stream.name());
        return new Message.Status(
                stream.number,
                counts.rows(),
                counts.rejected(),
                stream.stream.openRows(),
                backlog.rows(),
                backlog.records(),
                backlog.bytes(),
                backlog.shedding(),
                stream.stream.problem().or(counts::lastRejected).orElse(""),
                counts.unneeded());
    }

    public Health health() {
        return new Health(
                state == State.UP,
                offsetMicros,
                roundTripMicros,
                bytesBefore + wire.map(DeviceWire::bytes).orElse(0L),
                problem);
    }

    @Override
    public void close() {
        wire.ifPresent(DeviceWire::close);
        wire = Optional.empty();
        state = State.DOWN;
        retryAt = Long.MAX_VALUE;
    }
}
