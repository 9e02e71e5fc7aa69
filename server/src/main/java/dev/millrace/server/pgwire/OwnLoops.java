package dev.millrace.server.pgwire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Event loops of one connection each: who writes row after row, with nobody beside it, writes the log on a loop of its own, where nobody
 * else is held up by the disk. Two changes of threads for each statement are saved so. Safe on any thread.
 *
 * <p>There are few of them, made when they are needed. Whoever has one and has not written for a while gives way to who asks.
 */
final class OwnLoops implements AutoCloseable {
    private static final int MOST = 4;
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long STOP_SECONDS = 1;

    @GuardedBy("this") private final List<Place> places = new ArrayList<>();

    @GuardedBy("this") private boolean closed;

    /** Who has a loop. */
    interface Owner {
        /** When it wrote last, by {@link System#nanoTime}. */
        long wroteNanos();

        /** Is to go to another loop, and to {@link #giveBack} this one, when nothing is under way; does not wait. */
        void leave();
    }

    /** A loop, which its owner has taken or not left yet. */
    private static final class Place {
        final EventLoopGroup group = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("millrace-writer", true), NioIoHandler.newFactory());
        Optional<Owner> owner = Optional.empty();
    }

    /** A loop for who asks, until it gives that back; empty if there is none now: then it may ask again. */
    Optional<EventLoop> take(Owner owner) {
        Optional<Owner> idle;
        synchronized (this) {
            Optional<Place> free =
                    places.stream().filter(place -> place.owner.isEmpty()).findFirst();
            if (free.isEmpty() && places.size() < MOST && !closed) {
                Place made = new Place();
                places.add(made);
                free = Optional.of(made);
            }
            if (free.isPresent() && !closed) {
                free.get().owner = Optional.of(owner);
                return Optional.of(free.get().group.next());
            }
            long now = System.nanoTime();
            idle = places.stream()
                    .flatMap(place -> place.owner.stream())
                    .filter(other -> now - other.wroteNanos() > IDLE_NANOS)
                    .findFirst();
        }
        idle.ifPresent(Owner::leave);
        return Optional.empty();
    }

    /** The owner has left its loop. */
    synchronized void giveBack(Owner owner) {
        for (Place place : places) {
            if (place.owner.filter(other -> other == owner).isPresent()) {
                place.owner = Optional.empty();
            }
        }
    }

    /**
     * Gives no more loops, and returns when those there are have done all that follows the end of their connections, or have not in
     * {@value #STOP_SECONDS} second: one may be in the disk.
     */
    void settle() {
        List<Place> all =
                end().stream().filter(place -> !place.group.isShuttingDown()).toList();
        for (int step = 0; step < ServerThreads.LAST_STEPS; step++) {
            List<Future<?>> steps = new ArrayList<>();
            all.forEach(place -> steps.add(place.group.submit(() -> {})));
            steps.forEach(done -> done.awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS));
        }
    }

    private synchronized List<Place> end() {
        closed = true;
        return List.copyOf(places);
    }

    /** Ends the threads, when the connections are closed; one that is in the disk still is left behind. */
    @Override
    public void close() {
        for (Place place : end()) {
            place.group
                    .shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS)
                    .awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS);
        }
    }
}
