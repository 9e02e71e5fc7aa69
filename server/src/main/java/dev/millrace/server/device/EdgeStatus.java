package dev.millrace.server.device;

import dev.millrace.edge.queue.Shedding;
import dev.millrace.edge.wire.Message;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a stream of a device is, as {@code millrace.edges} shows it.
 *
 * @param told what the device said last of itself
 * @param problem why nothing is taken, or why settings were refused; empty for none
 */
public record EdgeStatus(
        String device,
        String stream,
        Connection connection,
        Seen seen,
        Kept kept,
        Dropped dropped,
        Optional<Message.Status> told,
        Steering steering,
        String problem) {
    /**
     * How it is connected.
     *
     * @param up whether there is a connection on which the stream is open
     * @param address of the device; empty without one
     * @param agent which program the device runs
     */
    public record Connection(boolean up, String address, String agent) {}

    /**
     * When it said something last.
     *
     * @param micros empty if never
     * @param offsetMicros by how much the server's clock is ahead of the device's
     */
    public record Seen(OptionalLong micros, long offsetMicros, long roundTripMicros) {}

    /**
     * What the stream was given of it, ever.
     *
     * @param number up to which it has all
     * @param bytes of segments
     * @param rows one by one
     * @param segments those of partial aggregates, too
     * @param windowRows that stayed at the device, and came as partial aggregates of windows
     * @param shedRows that the device threw away, as the stream was told in their place
     */
    public record Kept(
            long number, long rows, long segments, long bytes, long shedRows, long lostSegments, long windowRows) {
        static final Kept NONE = new Kept(0, 0, 0, 0, 0, 0, 0);

        /** The same with what has the next numbers. */
        Kept with(Message.Rows next) {
            return switch (next.kind()) {
                case SEGMENT, COARSER ->
                    new Kept(
                            next.to(),
                            rows + next.rows(),
                            segments + 1,
                            bytes + next.bytes().length,
                            shedRows,
                            lostSegments,
                            windowRows);
                case PARTIALS ->
                    new Kept(
                            next.to(),
                            rows,
                            segments + 1,
                            bytes + next.bytes().length,
                            shedRows,
                            lostSegments,
                            sum(windowRows, next.rows()));
                case REJECTED -> withNumber(next.to());
                case SHED ->
                    new Kept(next.to(), rows, segments, bytes, sum(shedRows, next.rows()), lostSegments, windowRows);
                case LOST ->
                    new Kept(
                            next.to(),
                            rows,
                            segments,
                            bytes,
                            shedRows,
                            sum(lostSegments, next.to() - next.from() + 1),
                            windowRows);
            };
        }

        Kept withNumber(long newNumber) {
            return new Kept(newNumber, rows, segments, bytes, shedRows, lostSegments, windowRows);
        }

        /** Of numbers that a device says, so that they may be any. */
        private static long sum(long a, long b) {
            return a + b < 0 ? Long.MAX_VALUE : a + b;
        }
    }

    /**
     * Segments that were dropped since the stream is open.
     *
     * @param twice as they came again
     * @param early that came before others: they may have waited
     * @param damaged as they could not be read
     */
    public record Dropped(long twice, long early, long damaged) {}

    /**
     * What was set for it.
     *
     * @param number of the settings
     * @param done the number of those that it goes by
     */
    public record Steering(String settings, long number, long done) {}

    static EdgeStatus unseen(String device, String stream) {
        return new EdgeStatus(
                device,
                stream,
                new Connection(false, "", ""),
                new Seen(OptionalLong.empty(), 0, 0),
                Kept.NONE,
                new Dropped(0, 0, 0),
                Optional.empty(),
                new Steering("", 0, 0),
                "");
    }

    EdgeStatus withKept(Kept newKept) {
        return new EdgeStatus(device, stream, connection, seen, newKept, dropped, told, steering, problem);
    }

    /** A connection opens it. */
    public EdgeStatus opened(String address, String agent) {
        Connection now = new Connection(true, address, agent);
        return new EdgeStatus(device, stream, now, seen, kept, dropped, told, steering, "");
    }

    /** The connection has gone. */
    public EdgeStatus disconnected() {
        Connection none = new Connection(false, "", connection.agent);
        return new EdgeStatus(device, stream, none, seen, kept, dropped, told, steering, problem);
    }

    /** It said something. */
    public EdgeStatus withSeen(long micros, long offsetMicros, long roundTripMicros) {
        Seen now = new Seen(OptionalLong.of(micros), offsetMicros, roundTripMicros);
        return new EdgeStatus(device, stream, connection, now, kept, dropped, told, steering, problem);
    }

    EdgeStatus withDropped(long moreTwice, long moreEarly, long moreDamaged) {
        Dropped more = new Dropped(dropped.twice + moreTwice, dropped.early + moreEarly, dropped.damaged + moreDamaged);
        return new EdgeStatus(device, stream, connection, seen, kept, more, told, steering, problem);
    }

    /** What the device says of itself. */
    public EdgeStatus withTold(Message.Status newTold, long micros) {
        Seen now = new Seen(OptionalLong.of(micros), seen.offsetMicros, seen.roundTripMicros);
        return new EdgeStatus(device, stream, connection, now, kept, dropped, Optional.of(newTold), steering, problem);
    }

    EdgeStatus withSettings(String settings, long number) {
        Steering set = new Steering(settings, number, steering.done);
        return new EdgeStatus(device, stream, connection, seen, kept, dropped, told, set, problem);
    }

    /** Settings count, or were refused. */
    public EdgeStatus withSettingsDone(long done, String error) {
        Steering now = new Steering(steering.settings, steering.number, error.isEmpty() ? done : steering.done);
        return new EdgeStatus(device, stream, connection, seen, kept, dropped, told, now, error);
    }

    EdgeStatus withProblem(String newProblem) {
        return new EdgeStatus(device, stream, connection, seen, kept, dropped, told, steering, newProblem);
    }

    /** What the device threw away, made coarser and lost, as it counts that itself. */
    public Shedding shedding() {
        return told.map(Message.Status::shedding).orElse(Shedding.NONE);
    }
}
