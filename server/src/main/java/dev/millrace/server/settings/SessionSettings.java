package dev.millrace.server.settings;

import java.util.EnumMap;
import java.util.Map;

/** One session's values. Not thread-safe: the session's thread sets and reads. */
public final class SessionSettings {
    private final Map<Setting, String> values = new EnumMap<>(Setting.class);

    public String get(Setting setting) {
        return values.getOrDefault(setting, setting.defaultValue());
    }

    /** Sets a value after checking it. */
    public void set(Setting setting, String value) {
        values.put(setting, setting.checked(value));
    }

    /** Says who the session belongs to, which its user cannot change. */
    public void identify(Setting setting, String value) {
        values.put(setting, value);
    }

    public void reset(Setting setting) {
        values.remove(setting);
    }

    public void resetAll() {
        values.keySet().removeIf(Setting::canChange);
    }

    /** Whether a setting that is on or off is on. */
    public boolean isOn(Setting setting) {
        return get(setting).equals("on");
    }
}
