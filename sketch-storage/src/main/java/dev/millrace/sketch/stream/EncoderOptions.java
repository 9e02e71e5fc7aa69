package dev.millrace.sketch.stream;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.form.Keep;
import dev.millrace.sketch.form.Limits;
import java.security.SecureRandom;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * How an encoder makes segments.
 *
 * @param segmentRows rows at which a segment closes, 1 to {@link Limits#ROWS}
 * @param segmentTicks event time after which one closes: it holds times from a multiple of it to the next; 0 for by rows only
 * @param keep what it must remain good for
 * @param form its form
 * @param selfContained whether each segment can be read alone, which makes it larger by the schema
 * @param refit how equally likely bins follow the stream
 * @param announceEvery how many segments there are at most from one complete announcement of the version to the next, so that
 *     a reader who missed one reads on after so many; 0 for the first segment alone
 * @param incarnations numbers drawn at random, one for each encoder
 */
public record EncoderOptions(
        int segmentRows,
        long segmentTicks,
        Keep keep,
        Form form,
        boolean selfContained,
        Refit refit,
        int announceEvery,
        LongSupplier incarnations) {
    public static final int DEFAULT_ROWS = 1024;
    public static final int DEFAULT_ANNOUNCE_EVERY = 128;
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * Where the error of equally likely bins is evaluated and new ones are fitted, and from which sample (dissertation
     * §6.2.1). New bins come into use with the segment that closes next after they are ready.
     *
     * @param executor runs a review, which takes up to some milliseconds; by default the encoder's own thread, between two
     *     segments. It must outlive the encoder
     * @param halfLifeTicks event time in which a value's chance to stay in the sample halves; 0, the default, for a sample
     *     that favours recent values by their number
     * @param reviewTicks event time from one review to the next, at least; 0, the default, for one at each segment's end, empty for none
     */
    public record Refit(Executor executor, long halfLifeTicks, OptionalLong reviewTicks) {
        public static final Refit BETWEEN_SEGMENTS = new Refit(Runnable::run, 0);

        public Refit {
            if (halfLifeTicks < 0 || reviewTicks.orElse(0) < 0) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "the sample's half-life and the time between reviews must not be negative, and are "
                                + halfLifeTicks + " and " + reviewTicks.orElse(0));
            }
        }

        /** With a review at each segment's end. */
        public Refit(Executor executor, long halfLifeTicks) {
            this(executor, halfLifeTicks, OptionalLong.of(0));
        }

        public Refit withReviews(OptionalLong ticks) {
            return new Refit(executor, halfLifeTicks, ticks);
        }
    }

    public EncoderOptions {
        if (segmentRows < 1 || segmentRows > Limits.ROWS || segmentTicks < 0 || announceEvery < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "a segment has 1 to " + Limits.ROWS
                            + " rows, a length and a distance of announcements from 0 on, not " + segmentRows + ", "
                            + segmentTicks + " and " + announceEvery);
        }
    }

    /** 1,024 rows, queryable, the smallest form, referring to versions that are announced completely every 128 segments. */
    public static EncoderOptions defaults() {
        return new EncoderOptions(
                DEFAULT_ROWS,
                0,
                Keep.QUERYABLE,
                Form.SMALLEST,
                false,
                Refit.BETWEEN_SEGMENTS,
                DEFAULT_ANNOUNCE_EVERY,
                RANDOM::nextLong);
    }

    long newIncarnation() {
        long drawn = incarnations.getAsLong();
        return drawn == 0 ? 1 : drawn; // 0 is nobody's
    }

    public EncoderOptions withSegmentRows(int rows) {
        return new EncoderOptions(rows, segmentTicks, keep, form, selfContained, refit, announceEvery, incarnations);
    }

    public EncoderOptions withSegmentTicks(long ticks) {
        return new EncoderOptions(segmentRows, ticks, keep, form, selfContained, refit, announceEvery, incarnations);
    }

    public EncoderOptions withKeep(Keep newKeep) {
        return new EncoderOptions(
                segmentRows, segmentTicks, newKeep, form, selfContained, refit, announceEvery, incarnations);
    }

    public EncoderOptions withForm(Form newForm) {
        return new EncoderOptions(
                segmentRows, segmentTicks, keep, newForm, selfContained, refit, announceEvery, incarnations);
    }

    public EncoderOptions selfContained(boolean alone) {
        return new EncoderOptions(segmentRows, segmentTicks, keep, form, alone, refit, announceEvery, incarnations);
    }

    public EncoderOptions withRefit(Refit newRefit) {
        return new EncoderOptions(
                segmentRows, segmentTicks, keep, form, selfContained, newRefit, announceEvery, incarnations);
    }

    /** How many segments there are at most from one complete announcement to the next; 0 for the first one alone. */
    public EncoderOptions announceEvery(int segments) {
        return new EncoderOptions(segmentRows, segmentTicks, keep, form, selfContained, refit, segments, incarnations);
    }

    /** Where encoders draw what they are called by. */
    public EncoderOptions withIncarnations(LongSupplier drawn) {
        return new EncoderOptions(segmentRows, segmentTicks, keep, form, selfContained, refit, announceEvery, drawn);
    }
}
