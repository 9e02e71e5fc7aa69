package dev.millrace.server.settings;

import dev.millrace.text.DateStyle;
import dev.millrace.text.TimeStyle;
import dev.millrace.text.TimeStyle.IntervalStyle;
import dev.millrace.text.TimeStyle.Outputs;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;

/**
 * One session's values. Not thread-safe: the session's thread sets and reads.
 *
 * <p>From the inside out: those of SET LOCAL, until the transaction ends; those of SET; those that the role's sessions or the
 * client's connection begin with, which RESET goes back to; the defaults.
 */
public final class SessionSettings {
    private static final Set<String> WITHOUT_WAITING = Set.of("off", "false"); // of synchronous_commit

    private final Map<Setting, String> initial = new EnumMap<>(Setting.class);
    private Map<Setting, String> values = new EnumMap<>(Setting.class);
    private Map<Setting, String> local = new EnumMap<>(Setting.class);
    private final PassiveValues passive = new PassiveValues();
    private long version;
    private TimeStyle timeStyle = TimeStyle.PLAIN;
    private long styledVersion; // of the settings that it is of

    /** Values as they were at some moment, to go back to. */
    public static final class Saved {
        private final Map<Setting, String> values;
        private final Map<Setting, String> local;
        private final PassiveValues.Saved passive;

        private Saved(Map<Setting, String> values, Map<Setting, String> local, PassiveValues.Saved passive) {
            this.values = values;
            this.local = local;
            this.passive = passive;
        }
    }

    public String get(Setting setting) {
        String value = local.get(setting);
        if (value == null) {
            value = values.get(setting);
        }
        if (value == null) {
            value = initial.get(setting);
        }
        if (value == null) {
            Setting standing = Setting.forTransactionsToCome(setting);
            return standing == setting ? setting.defaultValue() : get(standing);
        }
        return value;
    }

    /** Sets a value after checking it. */
    public void set(Setting setting, String value) {
        values.put(setting, checked(setting, value));
        local.remove(setting);
        version++;
    }

    /** Of DateStyle a value may say a part, and leave the other. */
    private String checked(Setting setting, String value) {
        String known = setting.checked(value);
        return setting == Setting.DATE_STYLE
                ? DateStyle.ISO_MDY
                        .with(get(setting))
                        .flatMap(style -> style.with(value))
                        .orElseThrow()
                        .toString()
                : known;
    }

    /** Sets a value until the transaction ends. */
    public void setLocal(Setting setting, String value) {
        local.put(setting, checked(setting, value));
        version++;
    }

    /** What the session begins with, and RESET goes back to. */
    public void begin(Setting setting, String value) {
        initial.put(setting, checked(setting, value));
        version++;
    }

    /** Says what the system decides, which its user cannot change. */
    public void identify(Setting setting, String value) {
        initial.put(setting, value);
        version++;
    }

    public void reset(Setting setting) {
        values.remove(setting);
        local.remove(setting);
        version++;
    }

    public void resetAll() {
        values.clear();
        local.clear();
        passive.resetAll();
        version++;
    }

    /** What one of {@link PassiveSettings} is; empty for one that a program made up and that is not set. */
    public Optional<String> passive(String name) {
        return passive.get(name);
    }

    /** @param forTransaction until the transaction ends */
    public void setPassive(String name, String value, boolean forTransaction) {
        passive.set(name, value, forTransaction);
        version++;
    }

    public void resetPassive(String name) {
        passive.reset(name);
        version++;
    }

    /** Grows with each change. */
    public long version() {
        return version;
    }

    public Saved save() {
        return new Saved(Map.copyOf(values), Map.copyOf(local), passive.save());
    }

    /** Goes back to what was saved. */
    public void restore(Saved saved) {
        values = copy(saved.values);
        local = copy(saved.local);
        passive.restore(saved.passive);
        version++;
    }

    private static Map<Setting, String> copy(Map<Setting, String> from) {
        Map<Setting, String> copy = new EnumMap<>(Setting.class);
        copy.putAll(from);
        return copy;
    }

    /** The transaction ended, and with it what SET LOCAL said. */
    public void endTransaction() {
        passive.endTransaction();
        if (!local.isEmpty()) {
            local.clear();
            version++;
        }
    }

    /** The time zone as {@link dev.millrace.text.TimeZones} knows it; empty for UTC. */
    public Optional<String> timeZone() {
        String zone = get(Setting.TIME_ZONE);
        return zone.equals(Setting.TIME_ZONE.defaultValue()) ? Optional.empty() : Optional.of(zone);
    }

    /** How dates, times and intervals are read and written, and bytes and floating-point numbers written. */
    public TimeStyle timeStyle() {
        if (styledVersion != version) {
            DateStyle dates = DateStyle.ISO_MDY.with(get(Setting.DATE_STYLE)).orElseThrow();
            IntervalStyle intervals =
                    IntervalStyle.valueOf(get(Setting.INTERVAL_STYLE).toUpperCase(Locale.ROOT));
            Outputs outputs = new Outputs(
                    get(Setting.BYTEA_OUTPUT).equals("escape"), Integer.parseInt(get(Setting.EXTRA_FLOAT_DIGITS)));
            timeStyle = new TimeStyle(timeZone(), dates, intervals, outputs);
            styledVersion = version;
        }
        return timeStyle;
    }

    /** Whether NUMERIC without digits is numeric(38,16) in what the session defines. */
    public boolean numericIsLimited() {
        return get(Setting.PLAIN_NUMERIC).equals("limited");
    }

    /** Whether a setting that is on or off is on. */
    public boolean isOn(Setting setting) {
        return get(setting).equals("on");
    }

    /** Whether who writes hears of it only when it is on disk. */
    public boolean waitsForDisk() {
        return !WITHOUT_WAITING.contains(get(Setting.SYNCHRONOUS_COMMIT));
    }

    /** A setting that is a time. */
    public long millis(Setting setting) {
        String text = get(setting);
        return text.equals("0") ? 0 : Quantity.DURATION.parse(text).orElseThrow();
    }

    /** A setting that limits something, if it does. */
    public OptionalDouble limit(Setting setting) {
        return parsedLimit(get(setting)).orElseThrow();
    }

    /** The limit that a text says, as {@code 0.5}, or none if it is {@code off}; empty for any other. */
    public static Optional<OptionalDouble> parsedLimit(String text) {
        return SettingForm.LIMIT
                .canonical(text)
                .map(limit ->
                        limit.equals("off") ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(limit)));
    }

    /** A setting that is a size in memory. */
    public long bytes(Setting setting) {
        return bytes(get(setting));
    }

    /** The bytes that a text says, as {@code 64MB}; empty if it says none. */
    public static OptionalLong parsedBytes(String text) {
        return Quantity.BYTES.parse(text).stream().mapToLong(Long::longValue).findFirst();
    }

    /** A size as a setting has it, in the largest unit that says it exactly. */
    public static String sizeText(long bytes) {
        return Quantity.BYTES.text(bytes);
    }

    /** A size as a setting has it; 0 for what is none. */
    public static long bytes(String text) {
        return Quantity.BYTES.parse(text).orElse(0L);
    }
}
