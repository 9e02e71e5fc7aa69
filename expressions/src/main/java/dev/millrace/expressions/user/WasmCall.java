package dev.millrace.expressions.user;

import com.dylibso.chicory.runtime.ChicoryInterruptedException;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.wasm.WasmCode;
import dev.millrace.expressions.wasm.WasmInstance;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.text.Utf8;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;
import org.jspecify.annotations.Nullable;

/**
 * A call of a function in WebAssembly in generated code: {@code begin().with(..).with(..).call()}, whose result is then in fields. Numbers
 * pass as they are. What fails takes its instance with it, so that the next call finds a memory as it was at first.
 */
public final class WasmCall implements AutoCloseable {
    /** A call is made again when an interrupt ended it that was meant for another. */
    private static final int MOST_TRIES = 3;

    private static final long NULL_BYTES = -1; // as a pair: no address is that

    /** The bits of the result, when it is a number. */
    public long value;

    /** Where the result is, when it is text or bytea and not NULL. */
    public long address;

    /** Bytes there. */
    public int length;

    private final String key;
    private final WasmCode code;
    private final String export;
    private final DataType returns;
    private final int[] texts; // places of addresses among the values, behind each of which is the length
    private final long[] given;
    private final long[] passed;
    private final TextBuffer result;
    private @Nullable WasmInstance instance;
    private int function;
    private int count;

    /** @param arguments the row of what it is given */
    public WasmCall(String key, DataType arguments, DataType returns, BufferAllocator allocator) {
        this.key = key;
        this.code = UserModules.module(key);
        this.export = UserModules.export(key);
        this.returns = returns;
        int values = 0;
        int bytes = 0;
        int[] places = new int[arguments.fields().size()];
        for (Field field : arguments.fields()) {
            boolean isBytes = WasmCode.isBytes(field.type());
            if (isBytes) {
                places[bytes++] = values;
            }
            values += isBytes ? 2 : 1;
        }
        this.texts = Arrays.copyOf(places, bytes);
        this.given = new long[values];
        this.passed = new long[values];
        this.result = new TextBuffer(allocator, 64);
    }

    public WasmCall begin() {
        count = 0;
        return this;
    }

    public WasmCall with(boolean argument) {
        return with(argument ? 1L : 0L);
    }

    public WasmCall with(int argument) {
        return with((long) argument);
    }

    public WasmCall with(long argument) {
        given[count++] = argument;
        return this;
    }

    public WasmCall with(float argument) {
        return with((long) Float.floatToRawIntBits(argument));
    }

    public WasmCall with(double argument) {
        return with(Double.doubleToRawLongBits(argument));
    }

    /** Text or bytea. */
    public WasmCall with(long argument, int bytes) {
        given[count++] = argument;
        given[count++] = bytes;
        return this;
    }

    /**
     * Calls it with all arguments; false when the result is NULL, which a number never is.
     *
     * @throws MillraceException 38000 for what it did wrong, or that for which it was stopped
     */
    public boolean call() {
        boolean some = called();
        switch (returns.kind()) {
            case SMALLINT -> require((int) value == (short) value, (int) value);
            case DATE -> require(TimeRange.isDate((int) value), (int) value);
            case TIME -> require(TimeRange.isTime(value), value);
            case TIMESTAMP, TIMESTAMPTZ -> require(TimeRange.isTimestamp(value), value);
            case TEXT, VARCHAR -> {
                if (some && (!Utf8.isValid(address, length) || Utf8.hasNul(address, length))) {
                    throw MillraceException.user(
                            SqlState.CHARACTER_NOT_IN_REPERTOIRE,
                            "function " + UserCode.name(key) + " gave bytes that are no text");
                }
            }
            default -> {}
        }
        return some;
    }

    private void require(boolean inRange, long given) {
        if (!inRange) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                    "function " + UserCode.name(key) + " gave " + given + ", which is out of range for type "
                            + returns);
        }
    }

    private boolean called() {
        for (int tries = 1; ; tries++) {
            boolean done = false;
            UserWatch.Call watched = UserWatch.enter(key);
            try {
                boolean some = run();
                done = true;
                return some;
            } catch (ChicoryInterruptedException e) {
                MillraceException why = watched.why();
                if (why != null || tries == MOST_TRIES) {
                    throw why != null ? why : UserModules.failed(key, e);
                }
                Thread.interrupted();
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError | LinkageError | AssertionError e) {
                MillraceException why = watched.why();
                throw why != null ? why : UserModules.failed(key, e);
            } finally {
                watched.leave();
                if (!done) {
                    instance = null;
                }
            }
        }
    }

    private boolean run() {
        WasmInstance running = instance;
        if (running == null) {
            running = code.instantiate();
            function = running.function(export);
            instance = running;
        }
        System.arraycopy(given, 0, passed, 0, given.length);
        for (int place : texts) {
            passed[place] = running.put(given[place], (int) given[place + 1]);
        }
        value = running.call(function, passed);
        boolean some = !WasmCode.isBytes(returns) || copied(running);
        for (int place : texts) {
            running.free((int) passed[place], (int) given[place + 1]);
        }
        return some;
    }

    /** Takes bytes that are the result out of the module's memory; false for NULL. */
    private boolean copied(WasmInstance from) {
        result.clear();
        address = result.address();
        length = 0;
        if (value == NULL_BYTES) {
            return false;
        }
        int at = (int) (value >>> 32);
        length = (int) value;
        from.get(at, length, result);
        address = result.address();
        from.free(at, length);
        return true;
    }

    @Override
    public void close() {
        result.close();
    }
}
