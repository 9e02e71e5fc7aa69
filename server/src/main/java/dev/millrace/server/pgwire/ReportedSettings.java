package dev.millrace.server.pgwire;

import dev.millrace.server.pgwire.message.ServerMessages;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import io.netty.buffer.ByteBuf;
import java.util.EnumMap;
import java.util.Map;

/** Tells a client of the settings that it has to know: all at first, then those that changed. For the session's thread. */
final class ReportedSettings {
    private final SessionSettings settings;
    private final Map<Setting, String> told = new EnumMap<>(Setting.class);
    private long toldVersion = -1;

    ReportedSettings(SessionSettings settings) {
        this.settings = settings;
    }

    void report(ByteBuf out) {
        if (settings.version() == toldVersion) {
            return;
        }
        toldVersion = settings.version();
        for (Setting setting : Setting.reported()) {
            String value = settings.get(setting);
            if (!value.equals(told.put(setting, value))) {
                ServerMessages.parameterStatus(out, setting.reportedName(), value);
            }
        }
    }
}
