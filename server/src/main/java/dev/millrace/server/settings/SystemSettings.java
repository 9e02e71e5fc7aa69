package dev.millrace.server.settings;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Settings that are the engine's: no session has a value of its own, and each takes effect at once. Safe on any thread.
 *
 * <p>From the inside out: what SET said, until the process ends; what ALTER SYSTEM SET said, which the data directory keeps; what the engine
 * was opened with. A scheduling policy is kept whoever says it.
 */
public final class SystemSettings {
    private static final long LEAST_MEMORY_BYTES = 16 << 20;
    private static final Set<Setting> LIMITS = EnumSet.of(Setting.MEMORY_LIMIT, Setting.SPILL_LIMIT);

    /**
     * A value, and where it is from.
     *
     * @param source as {@code pg_settings} has it
     * @param begins what RESET goes back to
     * @param standard what holds where nobody says anything
     */
    public record Shown(String value, String source, String begins, String standard) {}

    private final Engine engine;
    private final EngineOptions opened;

    @GuardedBy("this") private Map<Setting, String> kept = new EnumMap<>(Setting.class);

    @GuardedBy("this") private Map<Setting, String> passing = new EnumMap<>(Setting.class); // until the process ends

    /** @param opened how the engine was opened */
    public SystemSettings(Engine engine, EngineOptions opened) {
        this.engine = engine;
        this.opened = opened;
    }

    /** Whether a setting is a limit of the engine. */
    public static boolean isLimit(Setting setting) {
        return LIMITS.contains(setting);
    }

    /**
     * SET and RESET of a limit.
     *
     * @param value none for what is kept, or else what the engine was opened with
     * @throws MillraceException 22023 if there is no such limit; then all is as it was
     */
    public synchronized void set(Setting limit, Optional<String> value) {
        Map<Setting, String> then = changed(passing, limit, value.map(text -> checked(limit, text)));
        apply(kept, then);
        passing = then;
    }

    /**
     * ALTER SYSTEM SET and RESET: {@link #kept} is to be written down then.
     *
     * @param value none for what the engine was opened with
     * @throws MillraceException 22023 if it is no value, 0A000 if a setting is each session's; then all is as it was
     */
    public synchronized void keep(Setting setting, Optional<String> value) {
        if (setting == Setting.SCHEDULING_POLICY) {
            engine.setSchedulingPolicy(value.map(setting::checked).orElse(opened.schedulingPolicy()));
            return;
        }
        if (!isLimit(setting)) {
            throw MillraceException.notAvailableYet("ALTER SYSTEM of " + setting.settingName())
                    .withHint(
                            "ALTER ROLE .. SET " + setting.settingName()
                                    + " says what a role's sessions begin with; memory_limit, spill_limit and scheduling_policy are the system's");
        }
        Map<Setting, String> thenKept = changed(kept, setting, value.map(text -> checked(setting, text)));
        Map<Setting, String> thenPassing = changed(passing, setting, Optional.empty()); // who says so means now, too
        apply(thenKept, thenPassing);
        kept = thenKept;
        passing = thenPassing;
    }

    /** Whether a value that is kept is a limit below that with which the engine was opened, in which what is kept may have no room. */
    public boolean isNarrower(String name, String value) {
        return LIMITS.stream()
                .anyMatch(limit -> limit.settingName().equals(name)
                        && limit.form().canonical(value).isPresent()
                        && SessionSettings.bytes(value) < bytes(limit, opened));
    }

    /**
     * Keeps such a limit, when all is there; other values are left as they are.
     *
     * @throws MillraceException 22023 if it is no value any more
     */
    public void narrow(String name, String value) {
        if (isNarrower(name, value)) {
            keep(Setting.named(name), Optional.of(value));
        }
    }

    /** ALTER SYSTEM RESET ALL. */
    public synchronized void keepNone() {
        keep(Setting.SCHEDULING_POLICY, Optional.empty());
        LIMITS.forEach(limit -> keep(limit, Optional.empty()));
    }

    /** What is to be there after a restart, by name. */
    public synchronized Map<String, String> kept() {
        Map<String, String> all = new TreeMap<>();
        all.put(Setting.SCHEDULING_POLICY.settingName(), engine.schedulingPolicy());
        kept.forEach((setting, value) -> all.put(setting.settingName(), value));
        return all;
    }

    /** How a setting stands; empty for one that sessions have. */
    public synchronized Optional<Shown> shown(Setting setting) {
        EngineOptions standard = EngineOptions.defaults();
        if (setting == Setting.SCHEDULING_POLICY) {
            String now = engine.schedulingPolicy();
            return Optional.of(new Shown(
                    now,
                    now.equals(standard.schedulingPolicy()) ? "default" : "configuration file",
                    opened.schedulingPolicy(),
                    standard.schedulingPolicy()));
        }
        if (!isLimit(setting)) {
            return Optional.empty();
        }
        boolean isConfigured = kept.containsKey(setting) || bytes(setting, opened) != bytes(setting, standard);
        return Optional.of(new Shown(
                SessionSettings.sizeText(bytes(setting, engine.options())),
                passing.containsKey(setting) ? "session" : isConfigured ? "configuration file" : "default",
                SessionSettings.sizeText(value(setting, kept, Map.of())),
                SessionSettings.sizeText(bytes(setting, standard))));
    }

    private static String checked(Setting limit, String text) {
        String value = limit.checked(text);
        if (limit == Setting.MEMORY_LIMIT && SessionSettings.bytes(value) < LEAST_MEMORY_BYTES) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "memory_limit must be at least 16MB, not " + text);
        }
        return value;
    }

    private static Map<Setting, String> changed(Map<Setting, String> from, Setting limit, Optional<String> value) {
        Map<Setting, String> then = new EnumMap<>(Setting.class);
        then.putAll(from);
        value.ifPresentOrElse(text -> then.put(limit, text), () -> then.remove(limit));
        return then;
    }

    @GuardedBy("this") private void apply(Map<Setting, String> thenKept, Map<Setting, String> thenPassing) {
        engine.setMemoryLimits(
                value(Setting.MEMORY_LIMIT, thenKept, thenPassing), value(Setting.SPILL_LIMIT, thenKept, thenPassing));
    }

    private long value(Setting limit, Map<Setting, String> thenKept, Map<Setting, String> thenPassing) {
        String text = thenPassing.getOrDefault(limit, thenKept.get(limit));
        return text == null ? bytes(limit, opened) : SessionSettings.bytes(text);
    }

    private static long bytes(Setting limit, EngineOptions of) {
        return limit == Setting.MEMORY_LIMIT ? of.memoryLimitBytes() : of.spillLimitBytes();
    }
}
