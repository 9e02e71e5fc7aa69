package dev.millrace.server.log;

import java.util.logging.Level;

/** How important an event is. */
public enum LogLevel {
    ERROR(Level.SEVERE),
    WARNING(Level.WARNING),
    INFO(Level.INFO),
    DEBUG(Level.FINE);

    private final Level level;

    LogLevel(Level level) {
        this.level = level;
    }

    Level level() {
        return level;
    }

    /** The nearest of ours. */
    static LogLevel of(Level level) {
        for (LogLevel candidate : values()) {
            if (level.intValue() >= candidate.level.intValue()) {
                return candidate;
            }
        }
        return DEBUG;
    }
}
