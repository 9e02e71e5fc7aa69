package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The fields of dates, times and intervals that have names; up to MILLENNIUM one can truncate to them. */
enum DateField {
    MICROSECONDS("microsecond microseconds us usec usecs usecond useconds"),
    MILLISECONDS("millisecond milliseconds ms msec msecs mseconds"),
    SECOND("second seconds s sec secs"),
    MINUTE("minute minutes m min mins"),
    HOUR("hour hours h hr hrs"),
    DAY("day days d"),
    WEEK("week weeks w"),
    MONTH("month months mon mons"),
    QUARTER("quarter qtr"),
    YEAR("year years y yr yrs"),
    DECADE("decade decades dec decs"),
    CENTURY("century centuries c cent"),
    MILLENNIUM("millennium millennia mil mils"),
    DOW("dow"),
    ISODOW("isodow"),
    DOY("doy"),
    ISOYEAR("isoyear"),
    JULIAN("julian jd"),
    EPOCH("epoch"),
    TIMEZONE("timezone"),
    TIMEZONE_HOUR("timezone_hour"),
    TIMEZONE_MINUTE("timezone_minute");

    private static final Map<String, DateField> BY_NAME = new HashMap<>();

    static {
        for (DateField field : values()) {
            for (String name : field.names.split(" ")) {
                BY_NAME.put(name, field);
            }
        }
    }

    private final String names;

    DateField(String names) {
        this.names = names;
    }

    static DateField of(String name, String type) {
        DateField field = BY_NAME.get(name.toLowerCase(Locale.ROOT));
        if (field == null) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "unit \"" + name + "\" not recognized for type " + type);
        }
        return field;
    }

    MillraceException notSupportedFor(String type) {
        return MillraceException.user(
                SqlState.FEATURE_NOT_SUPPORTED,
                "unit \"" + name().toLowerCase(Locale.ROOT) + "\" not supported for type " + type);
    }
}
