package dev.millrace.server.settings;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.scheduler.SchedulingPolicies;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** All settings. Those of PostgreSQL that drivers send are here with the values that hold. */
public enum Setting {
    READ_YOUR_WRITES(
            "read_your_writes", "on", Form.SWITCH, "whether a SELECT waits for what this session wrote before"),
    SCHEDULING_POLICY(
            "scheduling_policy",
            EngineOptions.defaults().schedulingPolicy(),
            Form.oneOf(SchedulingPolicies.names().toArray(String[]::new)),
            "who runs next when there is more work than workers, in all sessions at once"),
    APPLICATION_NAME("application_name", "", Form.TEXT, "a name for this session, as its program calls itself"),
    CLIENT_ENCODING(
            "client_encoding", "UTF8", Form.oneOf("utf8", "utf-8", "unicode"), "the encoding of text; only UTF8"),
    CLIENT_MIN_MESSAGES(
            "client_min_messages",
            "notice",
            Form.oneOf("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"),
            "accepted for the sake of drivers"),
    DATE_STYLE(
            "datestyle",
            "ISO, MDY",
            Form.oneOf("iso", "iso, mdy", "iso, dmy", "iso, ymd"),
            "how dates are written; only ISO"),
    EXTRA_FLOAT_DIGITS(
            "extra_float_digits",
            "1",
            Form.oneOf("1", "2", "3"),
            "floating point is always written shortest and exact"),
    INTERVAL_STYLE("intervalstyle", "postgres", Form.oneOf("postgres"), "how intervals are written"),
    SEARCH_PATH("search_path", "public", Form.TEXT, "accepted for the sake of drivers; there is one schema, public"),
    STANDARD_CONFORMING_STRINGS(
            "standard_conforming_strings", "on", Form.oneOf("on", "true", "1"), "backslashes in '...' are ordinary"),
    TIME_ZONE(
            "timezone",
            "UTC",
            Form.oneOf("utc", "etc/utc", "gmt", "z", "0"),
            "the zone of TIMESTAMPTZ texts; only UTC"),
    SERVER_ENCODING("server_encoding", "UTF8", Form.READ_ONLY, "the encoding of text"),
    SERVER_VERSION("server_version", "14.0", Form.READ_ONLY, "the PostgreSQL version whose catalog clients find"),
    SERVER_VERSION_NUM("server_version_num", "140000", Form.READ_ONLY, "the same as a number"),
    SESSION_AUTHORIZATION("session_authorization", "millrace", Form.READ_ONLY, "the role of this session"),
    DATABASE("database", "millrace", Form.READ_ONLY, "the database of this session, under the name its client uses"),
    TRANSACTION_ISOLATION(
            "transaction_isolation", "serializable", Form.READ_ONLY, "every answer is of one consistent point");

    /** What values a setting takes. */
    record Form(String expected, List<String> allowed) {
        static final Form SWITCH = oneOf("on", "off", "true", "false", "yes", "no", "1", "0");
        static final Form TEXT = new Form("any text", List.of());
        static final Form READ_ONLY = new Form("", List.of());

        static Form oneOf(String... allowed) {
            return new Form("one of " + String.join(", ", allowed), List.of(allowed));
        }
    }

    private final String settingName;
    private final String defaultValue;
    private final Form form;
    private final String meaning;

    Setting(String settingName, String defaultValue, Form form, String meaning) {
        this.settingName = settingName;
        this.defaultValue = defaultValue;
        this.form = form;
        this.meaning = meaning;
    }

    /** As SQL names it, in lower case. */
    public String settingName() {
        return settingName;
    }

    /** As PostgreSQL's protocol spells it. */
    public String reportedName() {
        return switch (this) {
            case DATE_STYLE -> "DateStyle";
            case INTERVAL_STYLE -> "IntervalStyle";
            case TIME_ZONE -> "TimeZone";
            default -> settingName;
        };
    }

    public String defaultValue() {
        return defaultValue;
    }

    boolean canChange() {
        return form != Form.READ_ONLY;
    }

    /** One line for users. */
    public String meaning() {
        return meaning;
    }

    /** The setting of this name in any case, or an error with the nearest one. */
    public static Setting named(String name) {
        String folded = name.toLowerCase(Locale.ROOT);
        Optional<Setting> found = Stream.of(values())
                .filter(setting -> setting.settingName.equals(folded))
                .findFirst();
        return found.orElseThrow(() -> {
            MillraceException error =
                    MillraceException.user(SqlState.UNDEFINED_OBJECT, "setting \"" + name + "\" does not exist");
            List<String> names =
                    Arrays.stream(values()).map(Setting::settingName).toList();
            return Suggestion.nearest(folded, names)
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElse(error.withHint("SHOW ALL lists them"));
        });
    }

    /** The value as it will be shown, or an error that says what it may be. */
    String checked(String value) {
        if (form == Form.READ_ONLY) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "setting \"" + settingName + "\" cannot be changed");
        }
        if (!form.allowed.isEmpty() && !form.allowed.contains(value.toLowerCase(Locale.ROOT))) {
            throw invalid(value);
        }
        if (form == Form.SWITCH) {
            return List.of("on", "true", "yes", "1").contains(value.toLowerCase(Locale.ROOT)) ? "on" : "off";
        }
        return form.allowed.isEmpty() ? value : defaultFor(value);
    }

    /** Spellings of one value are shown as the default spells it. */
    private String defaultFor(String value) {
        return this == CLIENT_ENCODING || this == TIME_ZONE || this == STANDARD_CONFORMING_STRINGS
                ? defaultValue
                : value;
    }

    private MillraceException invalid(String value) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "setting \"" + settingName + "\" cannot be \"" + value + "\"; it must be " + form.expected);
    }
}
