package dev.millrace.server.device;

import dev.millrace.edge.queue.Shedding;
import dev.millrace.edge.wire.Message;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a stream of a device is, as {@code millrace.edges} shows it.
 *
 * @param connected whether there is a connection on which it is open
 * @param agent which program the device runs
 * @param seenMicros when it said something last
 * @param offsetMicros by how much the server's clock is ahead of the device's
 * @param number up to which the stream has all
 * @param rows in the stream, ever
 * @param bytes of their segments
 * @param shedRows that the device threw away, as the stream was told in their place
 * @param twice segments that came again, and were dropped, since the stream is open
 * @param early that came before others, likewise
 * @param damaged that could not be read, and were dropped
 * @param told what the device said last of itself
 * @param settings that were set for it, and their number
 * @param settingsDone the number of those that it goes by
 * @param problem why nothing is taken, or why settings were refused; empty for none
 */
public record EdgeStatus(
        String device,
        String stream,
        boolean connected,
        String address,
        String agent,
        OptionalLong seenMicros,
        long offsetMicros,
        long roundTripMicros,
        long number,
        long rows,
        long segments,
        long bytes,
        long shedRows,
        long lostSegments,
        long twice,
        long early,
        long damaged,
        Optional<Message.Status> told,
        String settings,
        long settingsNumber,
        long settingsDone,
        String problem) {
    static EdgeStatus unseen(String device, String stream) {
        return new EdgeStatus(
                device,
                stream,
                false,
                "",
                "",
                OptionalLong.empty(),
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                Optional.empty(),
                "",
                0,
                0,
                "");
    }

    EdgeStatus withKept(long newNumber, long newRows, long newSegments, long newBytes, long newShed, long newLost) {
        return new EdgeStatus(
                device,
                stream,
                connected,
                address,
                agent,
                seenMicros,
                offsetMicros,
                roundTripMicros,
                newNumber,
                newRows,
                newSegments,
                newBytes,
                newShed,
                newLost,
                twice,
                early,
                damaged,
                told,
                settings,
                settingsNumber,
                settingsDone,
                problem);
    }

    /** A connection opens it, or has gone. */
    public EdgeStatus withConnection(boolean isConnected, String newAddress, String newAgent) {
        return new EdgeStatus(
                device,
                stream,
                isConnected,
                newAddress,
                newAgent,
                seenMicros,
                offsetMicros,
                roundTripMicros,
                number,
                rows,
                segments,
                bytes,
                shedRows,
                lostSegments,
                twice,
                early,
                damaged,
                told,
                settings,
                settingsNumber,
                settingsDone,
                isConnected ? "" : problem);
    }

    /** It said something. */
    public EdgeStatus withSeen(long micros, long newOffset, long newRoundTrip) {
        return new EdgeStatus(
                device,
                stream,
                connected,
                address,
                agent,
                OptionalLong.of(micros),
                newOffset,
                newRoundTrip,
                number,
                rows,
                segments,
                bytes,
                shedRows,
                lostSegments,
                twice,
                early,
                damaged,
                told,
                settings,
                settingsNumber,
                settingsDone,
                problem);
    }

    EdgeStatus withDropped(long moreTwice, long moreEarly, long moreDamaged) {
        return new EdgeStatus(
                device,
                stream,
                connected,
                address,
                agent,
                seenMicros,
                offsetMicros,
                roundTripMicros,
                number,
                rows,
                segments,
                bytes,
                shedRows,
                lostSegments,
                twice + moreTwice,
                early + moreEarly,
                damaged + moreDamaged,
                told,
                settings,
                settingsNumber,
                settingsDone,
                problem);
    }

    /** What the device says of itself. */
    public EdgeStatus withTold(Message.Status newTold, long micros) {
        return new EdgeStatus(
                device,
                stream,
                connected,
                address,
                agent,
                OptionalLong.of(micros),
                offsetMicros,
                roundTripMicros,
                number,
                rows,
                segments,
                bytes,
                shedRows,
                lostSegments,
                twice,
                early,
                damaged,
                Optional.of(newTold),
                settings,
                settingsNumber,
                settingsDone,
                problem);
    }

    EdgeStatus withSettings(String newSettings, long newNumber) {
        return new EdgeStatus(
                device,
                stream,
                connected,
                address,
                agent,
                seenMicros,
                offsetMicros,
                roundTripMicros,
                number,
                rows,
                segments,
                bytes,
                shedRows,
                lostSegments,
                twice,
                early,
                damaged,
                told,
                newSettings,
                newNumber,
                settingsDone,
                problem);
    }

    /** Settings count, or were refused. */
    public EdgeStatus withSettingsDone(long newDone, String error) {
        return new EdgeStatus(
                device,
                stream,
                connected,
                address,
                agent,
                seenMicros,
                offsetMicros,
                roundTripMicros,
                number,
                rows,
                segments,
                bytes,
                shedRows,
                lostSegments,
                twice,
                early,
                damaged,
                told,
                settings,
                settingsNumber,
                error.isEmpty() ? newDone : settingsDone,
                error);
    }

    EdgeStatus withProblem(String newProblem) {
        return new EdgeStatus(
                device,
                stream,
                connected,
                address,
                agent,
                seenMicros,
                offsetMicros,
                roundTripMicros,
                number,
                rows,
                segments,
                bytes,
                shedRows,
                lostSegments,
                twice,
                early,
                damaged,
                told,
                settings,
                settingsNumber,
                settingsDone,
                newProblem);
    }

    /** What the device threw away, made coarser and lost, as it counts that itself. */
    public Shedding shedding() {
        return told.map(Message.Status::shedding).orElse(Shedding.NONE);
    }
}
