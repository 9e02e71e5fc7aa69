package dev.millrace.expressions.user;

import dev.millrace.nested.Images;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.udf.AggregateFunction;
import dev.millrace.udf.ScalarFunction;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * A call of a user's scalar or aggregate function in generated code. An aggregate is given its group as an array of rows,
 * which is the state that Millrace keeps.
 */
public final class UserCall implements AutoCloseable {
    /** Where the result is, when it is not NULL. */
    public long at;

    private final String key;
    private final DataType arguments;
    private final DataType returns;
    private final TextBuffer result;
    private final Object[] values;
    private final Calls calls;

    private interface Calls {
        @Nullable Object call(long image) throws Exception;
    }

    /** @param arguments the row of a scalar's arguments, or the array of an aggregate's */
    public UserCall(String key, DataType arguments, DataType returns, BufferAllocator allocator) {
        this.key = key;
        this.arguments = arguments;
        this.returns = returns;
        boolean aggregate = UserCode.kind(key) == UserCode.Kind.AGGREGATE;
        DataType row = aggregate ? arguments.fields().get(0).type().element() : arguments;
        this.values = new Object[row.fields().size()];
        this.calls = aggregate ? aggregated(UserCode.aggregate(key), row) : scalar(UserCode.scalar(key, values.length));
        this.result = new TextBuffer(allocator, 64);
    }

    private Calls scalar(ScalarFunction function) {
        return image -> {
            JavaValues.fields(arguments, image, values);
            return function.call(values);
        };
    }

    /** The one argument is an array of rows, or NULL for an empty group. */
    private Calls aggregated(AggregateFunction<Object> function, DataType row) {
        return image -> {
            Object state = function.create();
            if (!Images.isNull(image)) {
                long place = Images.elements(image + 1);
                for (int left = Images.count(image + 1); left > 0; left--) {
                    JavaValues.fields(row, place + 1, values);
                    state = function.accumulate(state, values);
                    place = Images.behind(row, place);
                }
            }
            return function.result(state);
        };
    }

    /** Calls it over the image of a row of arguments; false when the result is NULL. */
    public boolean call(long image, int length) {
        @Nullable Object value;
        UserWatch.Call watched = UserWatch.enter(key);
        try {
            value = calls.call(image);
        } catch (Exception | LinkageError | StackOverflowError | AssertionError | UserStopped | OutOfMemoryError e) {
            throw UserCode.failed(key, e);
        } finally {
            watched.leave();
        }
        result.clear();
        JavaValues.write(result, returns, value);
        at = result.address() + 1;
        return value != null;
    }

    /** Bytes of an array or row that was returned. */
    public int length(DataType type) {
        return (int) (Images.end(type, at) - at);
    }

    @Override
    public void close() {
        result.close();
    }
}
