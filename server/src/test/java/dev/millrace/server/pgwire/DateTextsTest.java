package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import dev.millrace.testing.database.DatabaseServer;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Texts of dates and times in forms that people and machines write, and some that nobody should: a PostgreSQL takes the same, and reads the same from them.
 * {@code -Dmillrace.date.texts=100000} tries as many.
 */
@Tag("peers")
@Timeout(120)
class DateTextsTest {
    private static final int TEXTS = Integer.getInteger("millrace.date.texts", 20_000);
    private static final long SEED = Long.getLong("millrace.date.seed", 8);
    private static final String[] MONTHS = {
        "Jan", "feb", "March", "APR", "May", "june", "Jul", "Aug", "sept", "Oct", "nov", "December"
    };
    private static final String[] DAYS = {"Mon", "tuesday", "Wed", "THU", "fri", "Sat", "sunday"};
    private static final String[] ZONES = {
        "",
        "",
        "",
        "",
        "Z",
        "zulu",
        "PST",
        "cet",
        "UTC",
        "+02",
        "-0330",
        "+05:45",
        "-08:00:30",
        "America/New_York",
        "Europe/Berlin",
        "+16",
        "XYZ",
        "MET DST"
    };

    private final Random random = new Random(SEED);

    private String of(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private String number(int below) {
        int number = random.nextInt(below);
        return random.nextBoolean() ? "%02d".formatted(number) : String.valueOf(number);
    }

    private String year() {
        return switch (random.nextInt(8)) {
            case 0 -> number(100);
            case 1 -> String.valueOf(random.nextInt(1_000));
            case 2 -> String.valueOf(random.nextInt(300_000));
            case 3 -> "%04d".formatted(random.nextInt(50));
            default -> String.valueOf(1900 + random.nextInt(200));
        };
    }

    private String month() {
        return random.nextBoolean() ? number(13) : of(MONTHS);
    }

    private String date() {
        String separator = of("-", "-", "/", ".", " ", ", ", "");
        return switch (random.nextInt(12)) {
            case 0, 1, 2 -> year() + "-" + "%02d-%02d".formatted(1 + random.nextInt(12), 1 + random.nextInt(31));
            case 3 -> number(13) + separator + number(32) + separator + year();
            case 4 -> number(32) + separator + of(MONTHS) + separator + year();
            case 5 -> of(MONTHS) + separator + number(32) + separator + year();
            case 6 -> year() + separator + month() + separator + number(32);
            case 7 -> "%04d%02d%02d".formatted(1900 + random.nextInt(200), random.nextInt(13), random.nextInt(32));
            case 8 -> "%02d%02d%02d".formatted(random.nextInt(100), random.nextInt(13), random.nextInt(32));
            case 9 -> (1900 + random.nextInt(200)) + of(".", "-", "") + "%03d".formatted(random.nextInt(400));
            case 10 -> of("J", "j", "JD ", "julian ") + random.nextInt(6_000_000) + of("", "", ".5", ".25");
            default -> of("todays", "2001-02-30", "24", "13", "", "1-1", "-2001-01-01", "1999-Jan-8-7");
        };
    }

    private String time() {
        String hour = number(26);
        return switch (random.nextInt(10)) {
            case 0 -> "";
            case 1 -> hour + ":" + number(61);
            case 2 ->
                "%02d%02d%02d".formatted(random.nextInt(25), random.nextInt(60), random.nextInt(61))
                        + of("", ".5", ".123456789");
            case 3 -> "%02d%02d".formatted(random.nextInt(25), random.nextInt(60));
            case 4 -> number(13) + ":" + number(60) + of("", ":" + number(60)) + of(" AM", "pm", " PM");
            case 5 ->
                of(
                        "24:00:00",
                        "23:59:60",
                        "24:00:01",
                        "23:59:59.9999999",
                        "04:05:06.",
                        "4:5",
                        "allballs",
                        "00:00:60.5");
            default -> hour + ":" + number(60) + ":" + number(61) + of("", "", ".5", ".123456", ".1234567", ".000000");
        };
    }

    private String text() {
        String date = date();
        String time = time();
        String zone = of(ZONES);
        String text = switch (random.nextInt(8)) {
            case 0 -> date + "T" + time + zone;
            case 1 -> date + of("t", " T ", " at ", " on ") + time + " " + zone;
            case 2 -> of(DAYS) + of(" ", ", ") + date + " " + time + " " + zone;
            case 3 -> time + " " + date + of("", " " + zone);
            case 4 -> time + " " + zone + " " + date;
            case 5 -> date + " " + time + zone + of("", " BC", " AD", "bc");
            default -> date + " " + time + of("", " ") + zone;
        };
        return random.nextInt(20) == 0 ? text.repeat(1 + random.nextInt(3)) : of("", "", " ") + text;
    }

    /** Times of 24:59 or 12:61 in digits alone, which PostgreSQL takes, zones of a letter's name, and what it takes for one. */
    private static boolean isReadTooReadily(String text) {
        Matcher digits = DIGITS.matcher(text);
        while (digits.find()) {
            String group = digits.group();
            boolean isTime = group.length() != 4 && group.length() != 6
                    || group.compareTo("24") < 0
                            && group.substring(2, 4).compareTo("60") < 0
                            && (group.length() < 6 || group.substring(4).compareTo("60") <= 0);
            boolean isYear = text.startsWith(group + "-") && text.lastIndexOf(group) == 0;
            if (!isTime && !isYear || group.equals("0000")) {
                return true;
            }
        }
        return ZONE_OF_LETTER.matcher(text).find();
    }

    private static final Pattern DIGITS = Pattern.compile("\\d+");
    private static final Pattern ZONE_OF_LETTER =
            Pattern.compile("(?i)\\b[a-z]{1,2}[-+]\\d|\\d(t|am|pm)[-+]\\d|allballs[-+]|j.*[.].*t|^ *\\d+ [a-z]+[/.]");

    /** The number that a text is, or that it is none. */
    private static String ours(ValueParser parser, DataType type, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = Memory.allocate(Math.max(1, bytes.length));
        try {
            Memory.copyIn(bytes, 0, address, bytes.length);
            return parser.tryParse(type, address, bytes.length) ? String.valueOf(parser.value()) : "-";
        } finally {
            Memory.free(address);
        }
    }

    private static final String READ = """
            CREATE FUNCTION pg_temp.read(t text) RETURNS text AS $$
            DECLARE d text := '-'; ts text := '-'; tz text := '-'; tm text := '-';
            BEGIN
              BEGIN d := (t::date - date '1970-01-01')::text; EXCEPTION WHEN OTHERS THEN NULL; END;
              BEGIN ts := (extract(epoch FROM t::timestamp) * 1000000)::bigint::text; EXCEPTION WHEN OTHERS THEN NULL; END;
              BEGIN tz := (extract(epoch FROM t::timestamptz) * 1000000)::bigint::text; EXCEPTION WHEN OTHERS THEN NULL; END;
              BEGIN tm := (extract(epoch FROM t::time) * 1000000)::bigint::text; EXCEPTION WHEN OTHERS THEN NULL; END;
              RETURN concat_ws(' ', d, ts, tz, tm);
            END $$ LANGUAGE plpgsql""";

    private static List<String> theirs(Connection connection, List<String> texts) throws SQLException {
        List<String> answers = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET timezone = 'UTC'");
            statement.execute(READ);
        }
        try (PreparedStatement query = connection.prepareStatement(
                "SELECT pg_temp.read(t) FROM unnest(?) WITH ORDINALITY AS x(t, n) ORDER BY n")) {
            query.setArray(1, connection.createArrayOf("text", texts.toArray()));
            try (ResultSet rows = query.executeQuery()) {
                while (rows.next()) {
                    answers.add(rows.getString(1));
                }
            }
        }
        return answers;
    }

    @Test
    void aTextIsWhatItIsInPostgres() throws Exception {
        Assumptions.assumeTrue(
                DatabaseServer.hasPostgres(), "skipped because PostgreSQL is not installed (package postgresql)");
        List<String> texts = new ArrayList<>();
        while (texts.size() < TEXTS) {
            String text = text();
            if (!isReadTooReadily(text)) {
                texts.add(text);
            }
        }
        List<String> theirs;
        try (DatabaseServer postgres = DatabaseServer.postgres();
                Connection connection = postgres.connect()) {
            theirs = theirs(connection, texts);
        }
        ValueParser parser = new ValueParser();
        List<String> different = new ArrayList<>();
        int read = 0;
        for (int i = 0; i < TEXTS; i++) {
            String text = texts.get(i);
            String ours = String.join(
                    " ",
                    Stream.of(DataType.DATE, DataType.TIMESTAMP, DataType.TIMESTAMPTZ, DataType.TIME)
                            .map(type -> ours(parser, type, text))
                            .toList());
            read += ours.startsWith("-") ? 0 : 1;
            if (!ours.equals(theirs.get(i))) {
                different.add("\"" + text + "\": " + ours + " and PostgreSQL " + theirs.get(i));
            }
        }
        System.out.println("date texts: " + TEXTS + ", of which " + read + " are dates, seed " + SEED);
        assertEquals(
                List.of(), different.subList(0, Math.min(60, different.size())), () -> different.size() + " differ");
        assertTrue(read > TEXTS / 6, "so many are dates: " + read);
    }
}
