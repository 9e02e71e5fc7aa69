package dev.millrace.server.session;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import java.util.Optional;

/** Settings that are limits of the engine: no session has a value of its own, and they end with the process. Any thread. */
final class EngineLimits {
    private static final long LEAST_MEMORY_BYTES = 16 << 20;

    private final Instance database;

    EngineLimits(Instance database) {
        this.database = database;
    }

    static boolean are(Setting setting) {
        return setting == Setting.MEMORY_LIMIT || setting == Setting.SPILL_LIMIT;
    }

    /**
     * Sets a limit, at once.
     *
     * @param value none for what the engine began with
     * @throws MillraceException 22023 if there is no such limit
     */
    void set(Setting setting, Optional<String> value) {
        boolean ofMemory = setting == Setting.MEMORY_LIMIT;
        EngineOptions opened = database.opened();
        long bytes = value.map(text -> SessionSettings.bytes(setting.checked(text)))
                .orElse(ofMemory ? opened.memoryLimitBytes() : opened.spillLimitBytes());
        if (ofMemory && value.isPresent() && bytes < LEAST_MEMORY_BYTES) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "memory_limit must be at least 16MB, not " + value.get());
        }
        EngineOptions now = database.engine().options();
        database.engine()
                .setMemoryLimits(ofMemory ? bytes : now.memoryLimitBytes(), ofMemory ? now.spillLimitBytes() : bytes);
    }
}
