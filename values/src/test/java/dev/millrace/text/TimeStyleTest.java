package dev.millrace.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.text.DateStyle.Form;
import dev.millrace.text.DateStyle.Order;
import dev.millrace.text.TimeStyle.IntervalStyle;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What settings say of styles. What is written and read in them is compared with PostgreSQL's in the server's TimeStylesTest. */
class TimeStyleTest {
    @Test
    void aValueChangesWhatItNames() {
        DateStyle sqlYmd = new DateStyle(Form.SQL, Order.YMD);
        assertEquals(Optional.of(new DateStyle(Form.SQL, Order.DMY)), sqlYmd.with("European"));
        assertEquals(Optional.of(new DateStyle(Form.SQL, Order.MDY)), sqlYmd.with("us"));
        assertEquals(Optional.of(new DateStyle(Form.POSTGRES, Order.YMD)), sqlYmd.with("postgresql"));
        assertEquals(Optional.of(new DateStyle(Form.GERMAN, Order.DMY)), sqlYmd.with("german"));
        assertEquals(Optional.of(new DateStyle(Form.GERMAN, Order.MDY)), sqlYmd.with(" MDY ,german"));
        assertEquals(Optional.of(DateStyle.ISO_MDY), sqlYmd.with("default"));
        assertEquals(Optional.of(sqlYmd), sqlYmd.with(""));
        for (String none : List.of("sql, iso", "dmy, mdy", "nothing", "iso,", ",", "isö", "iso ymd")) {
            assertEquals(Optional.empty(), sqlYmd.with(none), none);
        }
    }

    @Test
    void theTextOfAStyleIsReadAgain() {
        for (Optional<String> zone : List.of(Optional.<String>empty(), Optional.of("Europe/Berlin"))) {
            for (Form form : Form.values()) {
                for (Order order : Order.values()) {
                    for (IntervalStyle intervals : IntervalStyle.values()) {
                        TimeStyle style = new TimeStyle(zone, new DateStyle(form, order), intervals);
                        assertEquals(Optional.of(style), TimeStyle.parse(style.text()));
                    }
                }
            }
        }
        assertEquals("Europe/Berlin", TimeStyle.in(Optional.of("Europe/Berlin")).text());
        for (String none :
                List.of("", "Mars/Olympus", "UTC;", "UTC;ISO, MDY", "UTC;ISO;nothing", "UTC;x;POSTGRES", ";;")) {
            assertEquals(Optional.empty(), TimeStyle.parse(none), none);
        }
    }

    @Test
    void zonesHaveNamesWhereThereAreSome() {
        ZoneClock berlin = new ZoneClock(ZoneId.of("Europe/Berlin"));
        long winter = 1_577_836_800_000_000L; // 2020-01-01
        long summer = winter + 200 * CivilDays.MICROS_PER_DAY;
        for (int i = 0; i < 2; i++) {
            assertEquals(Optional.of("CET"), berlin.abbreviation(winter));
            assertEquals(Optional.of("CEST"), berlin.abbreviation(summer));
            assertEquals(Optional.of("LMT"), berlin.abbreviation(-200 * 365 * CivilDays.MICROS_PER_DAY));
        }
        assertEquals(Optional.empty(), new ZoneClock(ZoneId.of("+05:30")).abbreviation(winter));
        assertTrue(new ZoneClock(ZoneId.of("UTC")).abbreviation(winter).isPresent());
    }
}
