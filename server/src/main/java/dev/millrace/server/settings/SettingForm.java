package dev.millrace.server.settings;

import dev.millrace.text.DateStyle;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What values a setting takes, and how each is written. */
interface SettingForm {
    SettingForm SWITCH = new Words("on or off", List.of("on", "off", "true", "false", "yes", "no", "1", "0")) {
        @Override
        public Optional<String> canonical(String value) {
            return super.canonical(value)
                    .map(word -> List.of("on", "true", "yes", "1").contains(word) ? "on" : "off");
        }
    };
    SettingForm TEXT = new Text();
    SettingForm READ_ONLY = new Text();
    SettingForm DURATION = new Duration();
    SettingForm BYTES = new Bytes();
    SettingForm COUNT = new Count();
    SettingForm LIMIT = new Limit();
    SettingForm TIME_ZONE = new ZoneForm();
    SettingForm DATE_STYLE = new DateStyleForm();

    /** The value as it is shown; empty for one that it cannot be. */
    Optional<String> canonical(String value);

    /** What is expected, for errors. */
    String expected();

    /** The values there are, if they can be listed. */
    default List<String> allowed() {
        return List.of();
    }

    /** Words in any case, kept as they are written here. */
    static SettingForm oneOf(String... allowed) {
        return new Words("one of " + String.join(", ", allowed), List.of(allowed));
    }

    /** Spellings of the only value that holds. */
    static SettingForm only(String value, String... spellings) {
        return new Words("one of " + String.join(", ", spellings), List.of(spellings)) {
            @Override
            public Optional<String> canonical(String spelling) {
                return super.canonical(spelling).map(known -> value);
            }
        };
    }

    /** See {@link #oneOf}. */
    class Words implements SettingForm {
        private final String expected;
        private final List<String> allowed;

        Words(String expected, List<String> allowed) {
            this.expected = expected;
            this.allowed = allowed;
        }

        @Override
        public Optional<String> canonical(String value) {
            return Optional.of(value.toLowerCase(Locale.ROOT)).filter(allowed::contains);
        }

        @Override
        public String expected() {
            return expected;
        }

        @Override
        public List<String> allowed() {
            return allowed;
        }
    }

    /** Anything. */
    final class Text implements SettingForm {
        @Override
        public Optional<String> canonical(String value) {
            return Optional.of(value);
        }

        @Override
        public String expected() {
            return "any text";
        }
    }

    /** Milliseconds, or a number with a unit; shown in the largest unit that says it exactly, as PostgreSQL does. */
    final class Duration implements SettingForm {
        @Override
        public Optional<String> canonical(String value) {
            return Quantity.DURATION.parse(value).map(Quantity.DURATION::text);
        }

        @Override
        public String expected() {
            return "a number of milliseconds, or one with a unit (us, ms, s, min, h, d), from 0 to 2147483647 ms";
        }
    }

    /** Bytes, or a number with a unit. */
    final class Bytes implements SettingForm {
        @Override
        public Optional<String> canonical(String value) {
            return Quantity.BYTES.parse(value).map(Quantity.BYTES::text);
        }

        @Override
        public String expected() {
            return "a number of bytes, or one with a unit (kB, MB, GB, TB)";
        }
    }

    /** A form of dates, an order of their numbers, or both. */
    final class DateStyleForm implements SettingForm {
        @Override
        public Optional<String> canonical(String value) {
            return DateStyle.ISO_MDY.with(value).map(DateStyle::toString);
        }

        @Override
        public String expected() {
            return "one of ISO, SQL, Postgres, German, perhaps with one of YMD, DMY, MDY behind a comma";
        }
    }

    /** A number from 0, or none. */
    final class Limit implements SettingForm {
        @Override
        public Optional<String> canonical(String value) {
            String text = value.strip().toLowerCase(Locale.ROOT);
            if (text.equals("off")) {
                return Optional.of(text);
            }
            try {
                double limit = Double.parseDouble(text);
                return limit >= 0 && limit < Double.POSITIVE_INFINITY
                        ? Optional.of(text.endsWith("d") || text.endsWith("f") ? String.valueOf(limit) : text)
                        : Optional.empty();
            } catch (NumberFormatException e) {
                return Optional.empty();
            }
        }

        @Override
        public String expected() {
            return "a number from 0, or off";
        }
    }

    /** A whole number from 0. */
    final class Count implements SettingForm {
        @Override
        public Optional<String> canonical(String value) {
            try {
                int count = Integer.parseInt(value.strip());
                return count < 0 ? Optional.empty() : Optional.of(String.valueOf(count));
            } catch (NumberFormatException e) {
                return Optional.empty();
            }
        }

        @Override
        public String expected() {
            return "a whole number from 0";
        }
    }
}
