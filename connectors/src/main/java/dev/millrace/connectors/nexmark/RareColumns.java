package dev.millrace.connectors.nexmark;

import dev.millrace.connectors.random.Draws;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The columns of people (about 200 bytes a row) and auctions (about 500): four events in fifty, written plainly. */
final class RareColumns {
    private static final String[] FIRST_NAMES = {
        "Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"
    };
    private static final String[] LAST_NAMES = {
        "Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"
    };
    private static final String[] CITIES = {
        "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"
    };
    private static final String[] STATES = {"AZ", "CA", "ID", "OR", "WA", "WY"};

    private static final long FIRST_CATEGORY = 10;
    private static final long CATEGORIES = 5;

    /** An auction lasts on average as many events as there are auctions in flight: 100 at 3 in 50. */
    private static final long AUCTION_EVENTS = 100 * Kind.GROUP / 3;

    private final Draws draws;
    private final Timeline timeline;
    private final Kind kind;

    private RareColumns(Draws draws, Timeline timeline, Kind kind) {
        this.draws = draws;
        this.timeline = timeline;
        this.kind = kind;
    }

    static List<GeneratedColumn> ofPeople(Draws draws, Timeline timeline) {
        RareColumns columns = new RareColumns(draws, timeline, Kind.PERSON);
        return List.of(
                columns.number("id", DataType.BIGINT, (group, event) -> Ids.person(group)),
                columns.text("name", 16, event -> columns.name(event)),
                columns.text("emailaddress", 32, event -> columns.email(event)),
                columns.text("creditcard", 20, event -> columns.creditCard(event)),
                columns.text("city", 16, event -> columns.oneOf(CITIES, 13, event)),
                columns.text("state", 2, event -> columns.oneOf(STATES, 14, event)),
                columns.number("datetime", DataType.TIMESTAMP, (group, event) -> timeline.micros(event)),
                columns.letters("extra", 15, 110, 40));
    }

    static List<GeneratedColumn> ofAuctions(Draws draws, Timeline timeline) {
        RareColumns columns = new RareColumns(draws, timeline, Kind.AUCTION);
        return List.of(
                columns.number("id", DataType.BIGINT, (group, event) -> Ids.auction(group, event % Kind.GROUP - 1)),
                columns.letters("itemname", 21, 3, 17),
                columns.letters("description", 22, 3, 97),
                columns.number("initialbid", DataType.BIGINT, (group, event) -> columns.initialBid(event)),
                columns.number(
                        "reserve",
                        DataType.BIGINT,
                        (group, event) -> columns.initialBid(event) + Prices.price(columns.draw(24, event))),
                columns.number("datetime", DataType.TIMESTAMP, (group, event) -> timeline.micros(event)),
                columns.number("expires", DataType.TIMESTAMP, (group, event) -> columns.expires(event)),
                columns.number("seller", DataType.BIGINT, (group, event) -> columns.seller(group, event)),
                columns.number(
                        "category",
                        DataType.BIGINT,
                        (group, event) -> FIRST_CATEGORY + Draws.below(columns.draw(27, event), CATEGORIES)),
                columns.letters("extra", 28, 310, 100));
    }

    private interface NumberOf {
        long of(long group, long event);
    }

    private interface TextOf {
        String of(long event);
    }

    private GeneratedColumn number(String name, DataType type, NumberOf value) {
        return GeneratedColumn.ofLongs(kind, new Field(name, type, false), (group, event, to, rows) -> {
            for (int row = 0; row < rows; row++) {
                Memory.putLong(to + 8L * row, value.of(group, event + row));
            }
        });
    }

    private GeneratedColumn text(String name, int mostBytes, TextOf value) {
        return GeneratedColumn.ofTexts(kind, field(name), mostBytes, (group, event, data, from, endOffsets, rows) -> {
            int at = from;
            for (int row = 0; row < rows; row++) {
                byte[] text = value.of(event + row).getBytes(StandardCharsets.US_ASCII);
                Memory.copyIn(text, 0, data + at, text.length);
                at += text.length;
                Memory.putInt(endOffsets + 4L * row, at);
            }
            return at;
        });
    }

    private GeneratedColumn letters(String name, int salt, int least, int spread) {
        return GeneratedColumn.ofTexts(
                kind, field(name), least + spread, (group, event, data, from, endOffsets, rows) -> {
                    int at = from;
                    for (int row = 0; row < rows; row++) {
                        long draw = draw(salt, event + row);
                        int bytes = least + (int) Draws.below(draw, spread);
                        LetterPool.copy(LetterPool.place(draw, 40), data + at, bytes);
                        at += bytes;
                        Memory.putInt(endOffsets + 4L * row, at);
                    }
                    return at;
                });
    }

    private static Field field(String name) {
        return new Field(name, DataType.TEXT, false);
    }

    private long draw(int salt, long event) {
        return Draws.draw(draws.salt(salt), event);
    }

    private String oneOf(String[] texts, int salt, long event) {
        return texts[(int) Draws.below(draw(salt, event), texts.length)];
    }

    private String name(long event) {
        return oneOf(FIRST_NAMES, 10, event) + " " + oneOf(LAST_NAMES, 11, event);
    }

    private String email(long event) {
        long draw = draw(12, event);
        return word(draw, 3 + (int) Draws.below(draw, 9), 32) + "@" + word(Draws.mix(draw), 3 + (int) (draw >>> 62), 32)
                + ".com";
    }

    private static String word(long draw, int letters, int shift) {
        StringBuilder word = new StringBuilder(letters);
        int place = LetterPool.place(draw, shift);
        for (int i = 0; i < letters; i++) {
            word.append((char) (LetterPool.eight(place + i) & 0x7F));
        }
        return word.toString();
    }

    private String creditCard(long event) {
        long draw = draw(16, event);
        StringBuilder number = new StringBuilder(19);
        for (int part = 0; part < 4; part++) {
            long digits = 10_000 + (draw >>> 16 * part & 0xFFFF) % 10_000;
            number.append(part == 0 ? "" : " ").append(Long.toString(digits), 1, 5);
        }
        return number.toString();
    }

    private long initialBid(long event) {
        return Prices.price(draw(23, event));
    }

    private long expires(long event) {
        long now = timeline.micros(event);
        long horizon = timeline.micros(event + AUCTION_EVENTS) - now;
        return now + 1 + Draws.below(draw(25, event), Math.min(2 * horizon, 0xFFFF_FFFFL) + 1);
    }

    private long seller(long group, long event) {
        Ids.Choice choice = Ids.people(group, 0);
        long draw = draw(26, event);
        return draw >>> 62 != 0 ? choice.hot() : choice.first() + Draws.below(draw, choice.count());
    }
}
