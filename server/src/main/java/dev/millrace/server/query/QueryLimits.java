package dev.millrace.server.query;

import dev.millrace.connector.Options;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.task.MemoryLimits;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.role.Role;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** What the queries that a session makes may use of memory and time, as its settings say. */
public final class QueryLimits {
    private final Instance database;
    private final SessionSettings settings;

    QueryLimits(Instance database, SessionSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /** What a query that this session makes may hold; one that is made again, as its owner's role says. */
    public long mostBytes() {
        Setting limit = Setting.MAX_QUERY_MEMORY;
        Optional<Role> owner = database.catalogStore()
                .restoringOwner()
                .flatMap(name -> database.catalog().roles().find(name));
        String said = owner.isPresent()
                ? owner.get().settings().getOrDefault(limit.settingName(), limit.defaultValue())
                : settings.get(limit);
        long most = SessionSettings.bytes(said);
        return most == 0 ? Long.MAX_VALUE : most;
    }

    /** Whether a query that this session makes may share what runs it: not where its own memory is limited. */
    public boolean mayShare() {
        return settings.get(Setting.QUERY_GROUPS).equals("on") && mostBytes() == Long.MAX_VALUE;
    }

    /** How a query that this session makes runs. */
    public QueryOptions limited(QueryOptions options) {
        return options.withMostRowNanos(nanosOrNever(Setting.ROW_TIMEOUT))
                .withMostSinkNanos(nanosOrNever(Setting.SINK_TIMEOUT));
    }

    /**
     * The same of a query with options.
     *
     * @throws MillraceException 22023 if its {@code memory_limit} or {@code spill_limit} is no size
     */
    public QueryOptions limited(QueryOptions how, Options options) {
        MemoryLimits limits = how.memory()
                .withMemoryBytes(size(options, "memory_limit", 1))
                .withSpillBytes(size(options, "spill_limit", 0));
        return limited(how.withMemory(limits));
    }

    private static long size(Options options, String name, long least) {
        Optional<String> text = options.text(name);
        if (text.isEmpty()) {
            return Long.MAX_VALUE;
        }
        OptionalLong bytes = SessionSettings.parsedBytes(text.get());
        if (bytes.isEmpty() || bytes.getAsLong() < least) {
            throw Options.invalid(name, text.get(), "a size, as '64MB'" + (least > 0 ? ", greater than zero" : ""));
        }
        return bytes.getAsLong();
    }

    private long nanosOrNever(Setting setting) {
        long millis = settings.millis(setting);
        return millis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
