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
import java.util.Set;
import java.util.stream.Stream;

/** All settings. Those of PostgreSQL that drivers send are here with the values that hold. */
public enum Setting {
    READ_YOUR_WRITES(
            "read_your_writes",
            "on",
            SettingForm.SWITCH,
            "whether a SELECT waits for what this session wrote before, and of a table for what anybody was told is there"),
    SCHEDULING_POLICY(
            "scheduling_policy",
            EngineOptions.defaults().schedulingPolicy(),
            SettingForm.oneOf(SchedulingPolicies.names().toArray(String[]::new)),
            "who runs next when there is more work than workers, in all sessions at once; superusers only"),
    TRANSACTION_MEMORY(
            "transaction_memory",
            "256MB",
            SettingForm.BYTES,
            "how much a transaction may change before it is committed; beyond it the statement fails (53200)"),
    MAX_QUERIES(
            "max_queries",
            "0",
            SettingForm.COUNT,
            "continuous queries, views and sinks that a role may own (0: any number); for ALTER ROLE ... SET"),
    MAX_QUERY_MEMORY(
            "max_query_memory",
            "0",
            SettingForm.BYTES,
            "memory that each query may have before it fails (53200), a SELECT too; a role whose queries have as much together"
                    + " makes no more (0: any); for ALTER ROLE ... SET"),
    MEMORY_LIMIT(
            "memory_limit",
            "0",
            SettingForm.BYTES,
            "memory of all state and rows together, in all sessions at once (engine.memory); beyond it state is on disk; SET is until the"
                    + " server ends, ALTER SYSTEM SET for good; superusers only"),
    SPILL_LIMIT(
            "spill_limit",
            "0",
            SettingForm.BYTES,
            "state that may be on disk, likewise (engine.spill-limit); a query that needs more fails (53400); 0: none"),
    MAX_ERROR(
            "max_error",
            "off",
            SettingForm.LIMIT,
            "how far numbers of a SELECT over sketches may be off before it fails (22000); off: as far as the sketches are"),
    STATEMENT_TIMEOUT(
            "statement_timeout",
            "0",
            SettingForm.DURATION,
            "how long a statement may run before it is cancelled (0: for ever)"),
    ROW_TIMEOUT(
            "row_timeout",
            "10s",
            SettingForm.DURATION,
            "how long a continuous query, view or sink made from now on may be at one row before it fails (0: for ever); time in which it got"
                    + " no processor counts a tenth"),
    SINK_TIMEOUT(
            "sink_timeout",
            "30s",
            SettingForm.DURATION,
            "how long a sink made from now on may take no rows while others wait for it before it fails (0: for ever)"),
    LOCK_TIMEOUT(
            "lock_timeout",
            "0",
            SettingForm.DURATION,
            "how long a statement waits for rows that another transaction changed (0: for ever)"),
    IDLE_SESSION_TIMEOUT(
            "idle_session_timeout",
            "0",
            SettingForm.DURATION,
            "how long a session outside a transaction may say nothing before it is ended (0: for ever)"),
    IDLE_IN_TRANSACTION_SESSION_TIMEOUT(
            "idle_in_transaction_session_timeout",
            "0",
            SettingForm.DURATION,
            "how long a session within a transaction may say nothing before it is ended (0: for ever)"),
    ON_SLOW(
            "on_slow",
            "block",
            SettingForm.oneOf("block", "drop_oldest", "disconnect"),
            "what happens to a subscription whose client is too slow: the query waits, rows are dropped and counted, or it is"
                    + " cut off, which is how clients of the server begin"),
    SUBSCRIPTION_BUFFER(
            "subscription_buffer", "64MB", SettingForm.BYTES, "how much may wait for a slow client of a subscription"),
    SUBSCRIPTION_LIMIT(
            "subscription_limit",
            "64MB",
            SettingForm.BYTES,
            "how much of what a durable subscription has not acknowledged is kept, unless CREATE SUBSCRIPTION says; then it is broken"),
    SUBSCRIPTION_BEGINS(
            "subscription_begins",
            "with_a_row",
            SettingForm.oneOf("with_a_row", "at_once"),
            "when the first fetch with a row limit from a subscription is answered: when there is a row, or at once, for"
                    + " clients that have to know that it began, as the JDBC driver; later ones wait for a row"),
    QUERY_GROUPS(
            "query_groups",
            "on",
            SettingForm.SWITCH,
            "whether continuous queries made from now on share what runs them with others that differ in literals alone; answers are the same"),
    PLAIN_NUMERIC(
            "plain_numeric",
            "unlimited",
            SettingForm.oneOf("unlimited", "limited"),
            "what NUMERIC without digits is in what is defined from now on: a number of any size, or numeric(38,16), as it was once; for dumps"
                    + " of what was defined then"),
    APPLICATION_NAME("application_name", "", SettingForm.TEXT, "a name for this session, as its program calls itself"),
    BYTEA_OUTPUT("bytea_output", "hex", SettingForm.oneOf("hex", "escape"), "how BYTEA is written"),
    CLIENT_ENCODING(
            "client_encoding",
            "UTF8",
            SettingForm.only("UTF8", "utf8", "utf-8", "unicode"),
            "the encoding of text; only UTF8"),
    CLIENT_MIN_MESSAGES(
            "client_min_messages",
            "notice",
            SettingForm.oneOf("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"),
            "which notices are sent: none from error on, all others below"),
    DATE_STYLE(
            "datestyle",
            "ISO, MDY",
            SettingForm.DATE_STYLE,
            "how dates are written (ISO, SQL, Postgres, German), and the order of their numbers (YMD, DMY, MDY)"),
    DEFAULT_TRANSACTION_ISOLATION(
            "default_transaction_isolation",
            "read committed",
            SettingForm.oneOf("read uncommitted", "read committed", "repeatable read", "serializable"),
            "the isolation level of transactions to come; each statement sees what is committed, whatever the level"),
    DEFAULT_TRANSACTION_READ_ONLY(
            "default_transaction_read_only", "off", SettingForm.SWITCH, "whether transactions to come only read"),
    DEFAULT_TRANSACTION_DEFERRABLE(
            "default_transaction_deferrable", "off", SettingForm.SWITCH, "accepted for the sake of drivers"),
    EXTRA_FLOAT_DIGITS(
            "extra_float_digits",
            "1",
            SettingForm.oneOf(
                    "-15", "-14", "-13", "-12", "-11", "-10", "-9", "-8", "-7", "-6", "-5", "-4", "-3", "-2", "-1", "0",
                    "1", "2", "3"),
            "from 1 on floating point is written shortest and exact; else with so many digits more than 15, of REAL 6"),
    INTERVAL_STYLE(
            "intervalstyle",
            "postgres",
            SettingForm.oneOf("postgres", "postgres_verbose", "sql_standard", "iso_8601"),
            "how intervals are written"),
    PASSWORD_ENCRYPTION(
            "password_encryption", "scram-sha-256", SettingForm.oneOf("scram-sha-256"), "how passwords are kept"),
    ROW_SECURITY(
            "row_security", "on", SettingForm.SWITCH, "accepted for the sake of pg_dump; there are no row policies"),
    SEARCH_PATH(
            "search_path",
            "\"$user\", public",
            SettingForm.TEXT,
            "the schemas in which names without one are looked for; what is made is in the first"),
    STANDARD_CONFORMING_STRINGS(
            "standard_conforming_strings",
            "on",
            SettingForm.only("on", "on", "true", "yes", "1"),
            "backslashes in '...' are ordinary"),
    SYNCHRONOUS_COMMIT(
            "synchronous_commit",
            "on",
            SettingForm.oneOf("on", "off", "local", "remote_write", "remote_apply", "true", "false"),
            "off: INSERT and its kin are answered before what they wrote into tables is on disk (see docs/durability.md)"),
    TIME_ZONE(
            "timezone",
            "UTC",
            SettingForm.TIME_ZONE,
            "the time zone in which TIMESTAMPTZ is shown, read and computed with; standing queries are in UTC or their option timezone"),
    TRANSACTION_ISOLATION(
            "transaction_isolation",
            "read committed",
            SettingForm.oneOf("read uncommitted", "read committed", "repeatable read", "serializable"),
            "the isolation level of this transaction"),
    TRANSACTION_READ_ONLY("transaction_read_only", "off", SettingForm.SWITCH, "whether this transaction only reads"),
    TRANSACTION_DEFERRABLE("transaction_deferrable", "off", SettingForm.SWITCH, "accepted for the sake of drivers"),
    SERVER_ENCODING("server_encoding", "UTF8", SettingForm.READ_ONLY, "the encoding of text"),
    LC_COLLATE("lc_collate", "C.UTF-8", SettingForm.READ_ONLY, "texts are in the order of their code points"),
    LC_CTYPE("lc_ctype", "C.UTF-8", SettingForm.READ_ONLY, "what is a letter, and in which case, is Unicode's"),
    SERVER_VERSION(
            "server_version", "14.0", SettingForm.READ_ONLY, "the PostgreSQL version whose catalog clients find"),
    SERVER_VERSION_NUM("server_version_num", "140000", SettingForm.READ_ONLY, "the same as a number"),
    IS_SUPERUSER("is_superuser", "on", SettingForm.READ_ONLY, "whether the role that statements run as is a superuser"),
    ROLE("role", "none", SettingForm.READ_ONLY, "the role that SET ROLE chose"),
    SESSION_AUTHORIZATION("session_authorization", "millrace", SettingForm.READ_ONLY, "the role of this session"),
    MAX_IDENTIFIER_LENGTH("max_identifier_length", "1024", SettingForm.READ_ONLY, "characters of the longest name"),
    INTEGER_DATETIMES("integer_datetimes", "on", SettingForm.READ_ONLY, "times are whole microseconds"),
    LISTEN_ADDRESSES("listen_addresses", "", SettingForm.READ_ONLY, "the interfaces that the server listens on"),
    PORT("port", "0", SettingForm.READ_ONLY, "the port for PostgreSQL clients"),
    HTTP_PORT("http_port", "0", SettingForm.READ_ONLY, "the port for HTTP; 0 if there is none"),
    HTTP_CONNECTIONS_PER_ADDRESS(
            "http_connections_per_address", "0", SettingForm.READ_ONLY, "connections to HTTP of one address"),
    HTTP_HEADER_TIMEOUT(
            "http_header_timeout", "0", SettingForm.READ_ONLY, "how long a request's headers may take; 0 for ever"),
    HTTP_BODY_TIMEOUT(
            "http_body_timeout",
            "0",
            SettingForm.READ_ONLY,
            "how long a request's body may take, and a second for 64 KB of it"),
    HTTP_IDLE_TIMEOUT(
            "http_idle_timeout",
            "0",
            SettingForm.READ_ONLY,
            "how long a connection to HTTP may stay without a request"),
    MAX_CONNECTIONS("max_connections", "0", SettingForm.READ_ONLY, "PostgreSQL clients at once; 0 without a server"),
    SSL("ssl", "off", SettingForm.READ_ONLY, "whether connections may be encrypted"),
    DATA_DIRECTORY(
            "data_directory",
            "",
            SettingForm.READ_ONLY,
            "where definitions and rows of tables are kept; nothing if all is in memory"),
    DATABASE(
            "database",
            "millrace",
            SettingForm.READ_ONLY,
            "the database of this session, under the name its client uses");

    /** Those that only a superuser may change: they are everybody's, or limits. */
    private static final Set<Setting> FOR_SUPERUSERS =
            Set.of(SCHEDULING_POLICY, MAX_QUERIES, MAX_QUERY_MEMORY, MEMORY_LIMIT, SPILL_LIMIT);

    /** Those that a client is told of when they change, as PostgreSQL's protocol has it. */
    private static final List<Setting> REPORTED = List.of(
            SERVER_VERSION,
            SERVER_ENCODING,
            CLIENT_ENCODING,
            APPLICATION_NAME,
            DATE_STYLE,
            DEFAULT_TRANSACTION_READ_ONLY,
            INTEGER_DATETIMES,
            INTERVAL_STYLE,
            IS_SUPERUSER,
            SESSION_AUTHORIZATION,
            TIME_ZONE,
            STANDARD_CONFORMING_STRINGS);

    private final String settingName;
    private final String defaultValue;
    private final SettingForm form;
    private final String meaning;

    Setting(String settingName, String defaultValue, SettingForm form, String meaning) {
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

    /** What a setting of a transaction is when nothing else was said; another setting is its own. */
    static Setting forTransactionsToCome(Setting setting) {
        return switch (setting) {
            case TRANSACTION_ISOLATION -> DEFAULT_TRANSACTION_ISOLATION;
            case TRANSACTION_READ_ONLY -> DEFAULT_TRANSACTION_READ_ONLY;
            case TRANSACTION_DEFERRABLE -> DEFAULT_TRANSACTION_DEFERRABLE;
            default -> setting;
        };
    }

    /** Those that a client is told of, at first and whenever they change. */
    public static List<Setting> reported() {
        return REPORTED;
    }

    /** Whether only a superuser may change it. */
    public boolean isForSuperusers() {
        return FOR_SUPERUSERS.contains(this);
    }

    /** As {@code pg_settings.vartype}. */
    public String valueType() {
        return form == SettingForm.SWITCH
                ? "bool"
                : form instanceof SettingForm.Words ? "enum" : form instanceof SettingForm.Text ? "string" : "integer";
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
    public String checked(String value) {
        if (form == SettingForm.READ_ONLY) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "setting \"" + settingName + "\" cannot be changed");
        }
        return form.canonical(value).orElseThrow(() -> invalid(value));
    }

    SettingForm form() {
        return form;
    }

    private MillraceException invalid(String value) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "setting \"" + settingName + "\" cannot be \"" + value + "\"; it must be " + form.expected());
    }
}
