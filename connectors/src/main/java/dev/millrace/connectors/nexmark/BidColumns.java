package dev.millrace.connectors.nexmark;

import dev.millrace.connectors.random.Draws;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;

/**
 * The columns of bids. Half of the bids are for the hot auction, three in four by the hot bidder, half through one of
 * four channels; what is hot is chosen by masks, because a branch on random data costs more than all the rest.
 */
final class BidColumns {
    private static final int EXTRA_LEAST = 48;
    private static final int EXTRA_SPREAD = 40;

    private final Draws draws;
    private final Timeline timeline;
    private final long channelSalt;

    private BidColumns(Draws draws, Timeline timeline) {
        this.draws = draws;
        this.timeline = timeline;
        this.channelSalt = draws.salt(4);
    }

    static List<GeneratedColumn> of(Draws draws, Timeline timeline) {
        BidColumns columns = new BidColumns(draws, timeline);
        return List.of(
                GeneratedColumn.ofLongs(Kind.BID, field("auction", DataType.BIGINT), columns.auction()),
                GeneratedColumn.ofLongs(Kind.BID, field("bidder", DataType.BIGINT), columns.bidder()),
                GeneratedColumn.ofLongs(Kind.BID, field("price", DataType.BIGINT), columns.price()),
                GeneratedColumn.ofTexts(
                        Kind.BID, field("channel", DataType.TEXT), Channels.NAME_BYTES, columns.channel()),
                GeneratedColumn.ofTexts(Kind.BID, field("url", DataType.TEXT), Channels.URL_BYTES, columns.url()),
                GeneratedColumn.ofLongs(Kind.BID, field("datetime", DataType.TIMESTAMP), columns.datetime()),
                GeneratedColumn.ofTexts(
                        Kind.BID, field("extra", DataType.TEXT), EXTRA_LEAST + EXTRA_SPREAD, columns.extra()));
    }

    private static Field field(String name, DataType type) {
        return new Field(name, type, false);
    }

    private GeneratedColumn.LongWriter auction() {
        long salt = draws.salt(1);
        return (group, event, to, rows) -> {
            Ids.Choice choice = Ids.auctions(group);
            long hot = choice.hot();
            long first = choice.first();
            long count = choice.count();
            long state = salt + event * Draws.STEP;
            for (int row = 0; row < rows; row++, state += Draws.STEP) {
                long draw = Draws.mix(state);
                long other = first + Draws.below(draw, count);
                long oneInTwo = draw >> 63;
                Memory.putLong(to + 8L * row, other ^ (other ^ hot) & oneInTwo);
            }
        };
    }

    private GeneratedColumn.LongWriter bidder() {
        long salt = draws.salt(2);
        return (group, event, to, rows) -> {
            Ids.Choice choice = Ids.people(group, 1);
            long hot = choice.hot();
            long first = choice.first();
            long count = choice.count();
            long state = salt + event * Draws.STEP;
            for (int row = 0; row < rows; row++, state += Draws.STEP) {
                long draw = Draws.mix(state);
                long other = first + Draws.below(draw, count);
                long threeInFour = (draw | draw << 1) >> 63;
                Memory.putLong(to + 8L * row, other ^ (other ^ hot) & threeInFour);
            }
        };
    }

    private GeneratedColumn.LongWriter price() {
        long salt = draws.salt(3);
        return (group, event, to, rows) -> {
            long state = salt + event * Draws.STEP;
            for (int row = 0; row < rows; row++, state += Draws.STEP) {
                Memory.putLong(to + 8L * row, Prices.price(Draws.mix(state)));
            }
        };
    }

    private GeneratedColumn.TextWriter channel() {
        return (group, event, data, from, endOffsets, rows) -> {
            int at = from;
            long state = channelSalt + event * Draws.STEP;
            for (int row = 0; row < rows; row++, state += Draws.STEP) {
                at += Channels.writeName(Channels.choose(Draws.mix(state)), data + at);
                Memory.putInt(endOffsets + 4L * row, at);
            }
            return at;
        };
    }

    /** A channel has one url, so it follows from the same draw. */
    private GeneratedColumn.TextWriter url() {
        return (group, event, data, from, endOffsets, rows) -> {
            int at = from;
            long state = channelSalt + event * Draws.STEP;
            for (int row = 0; row < rows; row++, state += Draws.STEP) {
                at += Channels.writeUrl(Channels.choose(Draws.mix(state)), data + at);
                Memory.putInt(endOffsets + 4L * row, at);
            }
            return at;
        };
    }

    private GeneratedColumn.LongWriter datetime() {
        return (group, event, to, rows) -> timeline.write(event, to, rows);
    }

    private GeneratedColumn.TextWriter extra() {
        long salt = draws.salt(5);
        return (group, event, data, from, endOffsets, rows) -> {
            int at = from;
            long state = salt + event * Draws.STEP;
            for (int row = 0; row < rows; row++, state += Draws.STEP) {
                long draw = Draws.mix(state);
                int place = LetterPool.place(draw, 40);
                long to = data + at;
                // Always the longest: a fixed number of stores is cheaper than a loop that ends at random.
                for (int done = 0; done < EXTRA_LEAST + EXTRA_SPREAD; done += Long.BYTES) {
                    Memory.putLong(to + done, LetterPool.eight(place + done));
                }
                at += EXTRA_LEAST + (int) Draws.below(draw, EXTRA_SPREAD);
                Memory.putInt(endOffsets + 4L * row, at);
            }
            return at;
        };
    }
}
