package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.udf.AggregateFunction;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;

/** A user's aggregate and its states, one for each group; what it throws is told as the error of the query. */
public final class UserAggregate {
    private final String key;
    private final DataType row;
    private final AggregateFunction<Object> function;
    private final Object[] values;

    private interface Step {
        Object apply() throws Exception;
    }

    /** @param row of the arguments */
    public UserAggregate(String key, DataType row) {
        this.key = key;
        this.row = row;
        this.function = UserCode.aggregate(key);
        this.values = new Object[row.fields().size()];
    }

    private Object asked(Step step) {
        UserWatch.Call watched = UserWatch.enter(key);
        try {
            return step.apply();
        } catch (Exception | LinkageError | StackOverflowError | AssertionError | UserStopped | OutOfMemoryError e) {
            throw UserCode.failed(key, e);
        } finally {
            watched.leave();
        }
    }

    public Object create() {
        return asked(function::create);
    }

    /** The state with a row, given by its image. */
    public Object accumulate(Object state, long image) {
        JavaValues.fields(row, image, values);
        return asked(() -> function.accumulate(state, values));
    }

    /** The state with a row, given by its {@link #arguments}. */
    public Object accumulate(Object state, Object[] arguments) {
        return asked(() -> function.accumulate(state, arguments));
    }

    /** The arguments of a row, for {@link #retract}. */
    public Object[] arguments(long image) {
        Object[] arguments = new Object[values.length];
        JavaValues.fields(row, image, arguments);
        return arguments;
    }

    public Object retract(Object state, Object[] arguments) {
        return asked(() -> function.retract(state, arguments));
    }

    /** A state with the rows of both; the other one remains as it is. */
    public Object merge(Object state, Object other) {
        Object merged = asked(() -> function.merge(state, other));
        return merged == other ? copy(other) : merged;
    }

    public Object result(Object state) {
        return asked(() -> function.result(state));
    }

    /** A state of its own with the same rows. */
    public Object copy(Object state) {
        return read(write(state));
    }

    public byte[] write(Object state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(state);
        } catch (IOException e) {
            throw notSerial(e);
        }
        return bytes.toByteArray();
    }

    public Object read(byte[] bytes) {
        try (ObjectInputStream in = new StateInput(new ByteArrayInputStream(bytes), UserCode.loader(key))) {
            return in.readObject();
        } catch (IOException | ClassNotFoundException e) {
            throw notSerial(e);
        }
    }

    private MillraceException notSerial(Exception e) {
        return MillraceException.user(
                        SqlState.EXTERNAL_ROUTINE_EXCEPTION,
                        "the state of function " + UserCode.name(key) + " cannot be copied: " + e)
                .withHint("all that a state holds must be Serializable, or the state itself not");
    }

    /** Finds the classes of states in the function's jar. */
    private static final class StateInput extends ObjectInputStream {
        private final ClassLoader loader;

        StateInput(InputStream in, ClassLoader loader) throws IOException {
            super(in);
            this.loader = loader;
        }

        @Override
        protected Class<?> resolveClass(ObjectStreamClass description) throws IOException, ClassNotFoundException {
            try {
                return Class.forName(description.getName(), false, loader);
            } catch (ClassNotFoundException e) {
                return super.resolveClass(description); // of a primitive type
            }
        }
    }
}
