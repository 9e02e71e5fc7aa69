package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.planning.SessionUse;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * {@code set_config}, by which a SELECT sets a setting of its session. It is called by the threads that make rows; what it sets holds when
 * the statement has ended, and not if it failed. Settings are set by the session's thread.
 */
final class SettingCalls {
    private static final int MOST = 1_000; // of one statement

    private static final List<Field> PARAMETERS = List.of(
            new Field("setting_name", DataType.TEXT, true),
            new Field("new_value", DataType.TEXT, true),
            new Field("is_local", DataType.BOOLEAN, true));

    private final OwnFunctions functions;
    private final Identity identity;
    private final Queue<Statement.SetSetting> called = new ArrayBlockingQueue<>(MOST);

    SettingCalls(OwnFunctions functions, Identity identity) {
        this.functions = functions;
        this.identity = identity;
    }

    Optional<UserFunction> function(String name) {
        return name.equals(SessionUse.SET)
                ? Optional.of(functions.provided(name, PARAMETERS, DataType.TEXT, this::set))
                : Optional.empty();
    }

    private @Nullable Object set(Object[] values) {
        if (values[0] == null) {
            throw MillraceException.user(SqlState.NULL_VALUE_NOT_ALLOWED, "SET requires parameter name");
        }
        String name = (String) values[0];
        String value = (String) values[1];
        boolean local = Boolean.TRUE.equals(values[2]);
        String shown = value;
        if (!PassiveSettings.isPassive(name)) {
            Setting setting = Setting.named(name);
            if (setting.isForSuperusers() && !identity.isSuperuser()) {
                throw MillraceException.user(
                        SqlState.INSUFFICIENT_PRIVILEGE, "permission denied to set setting \"" + name + "\"");
            }
            shown = setting.checked(value == null ? setting.defaultValue() : value);
        }
        if (!called.offer(new Statement.SetSetting(name, Optional.ofNullable(value), local))) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "a statement calls set_config at most " + MOST + " times");
        }
        return shown;
    }

    /** The statement that called it ended well; on the session's thread. */
    void apply(Consumer<Statement.SetSetting> settings) {
        for (Statement.SetSetting set = called.poll(); set != null; set = called.poll()) {
            settings.accept(set);
        }
    }

    /** The statement failed. */
    void forget() {
        called.clear();
    }

    /** A result whose reader is not the session: rows that cannot be made are a failure of the statement. */
    StatementResult watched(StatementResult result) {
        if (!(result instanceof StatementResult.Rows rows)) {
            return result;
        }
        return new StatementResult.Rows() {
            @Override
            public Schema schema() {
                return rows.schema();
            }

            @Override
            public Optional<Batch> next() {
                try {
                    return rows.next();
                } catch (RuntimeException e) {
                    forget();
                    throw e;
                }
            }

            @Override
            public void close() {
                rows.close();
            }
        };
    }
}
