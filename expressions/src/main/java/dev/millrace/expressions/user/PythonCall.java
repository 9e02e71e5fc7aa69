package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.kernel.OutputColumn;
import dev.millrace.expressions.python.PythonFailure;
import dev.millrace.expressions.python.PythonFunction;
import dev.millrace.expressions.python.PythonWorker;
import dev.millrace.expressions.python.PythonWorkers;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Calls of a function in Python over columns, piece by piece: what a piece takes in time is what one call may ({@link UserWatch}), and
 * ending it is killing its process. For one thread.
 */
public final class PythonCall implements AutoCloseable {
    /** A multiple of 8, so that the bits of a piece begin with a byte. */
    private static final int PIECE_ROWS = 1024;

    private static final int LEAST_ROWS = 8;
    private static final int PIECE_BYTES = 16 << 20;
    private static final int MOST_BYTES = 1 << 30;

    private final String key;
    private final PythonFunction function;
    private final BufferAllocator allocator;
    private final Field returns;
    private final ReturnedColumn returned;
    private ByteBuffer request = ByteBuffer.allocate(1 << 10).order(ByteOrder.LITTLE_ENDIAN);
    private int failedRow = -1;
    private volatile int rowsDone; // written by the thread that calls, read by all

    public PythonCall(String key, BufferAllocator allocator) {
        this.key = key;
        this.function = UserPython.function(key);
        this.allocator = allocator;
        this.returns = new Field("result", function.returns(), true);
        this.returned = new ReturnedColumn(key, function.returns());
    }

    /** How many rows it was called for since {@link #begin}; on any thread. */
    public int rowsDone() {
        return rowsDone;
    }

    /** Counts rows anew. */
    public void begin() {
        rowsDone = 0;
    }

    /** The row that the last call failed with; -1 if it was not one. */
    public int failedRow() {
        return failedRow;
    }

    /**
     * The function's values for all rows.
     *
     * @param arguments a column each, which stay the caller's
     * @return the caller's
     * @throws MillraceException 38000 for what it did wrong, or that for which it was stopped
     */
    public FieldVector call(List<FieldVector> arguments, int rows) {
        failedRow = -1;
        int before = rowsDone;
        try (OutputColumn result = new OutputColumn(returns, rows, 16L * rows, allocator)) {
            for (int from = 0; from < rows || from == 0; ) { // for no rows the function is defined
                int piece = Math.min(rows - from, PIECE_ROWS);
                while (piece > LEAST_ROWS && bytes(arguments, from, piece) > PIECE_BYTES) {
                    piece = Math.max(LEAST_ROWS, piece / 2 & -LEAST_ROWS);
                }
                called(arguments, from, piece, result);
                from += Math.max(piece, 1);
                rowsDone = before + from;
            }
            return result.finish(rows);
        }
    }

    private void called(List<FieldVector> arguments, int from, int rows, OutputColumn result) {
        long bytes = bytes(arguments, from, rows);
        if (bytes > MOST_BYTES) {
            throw MillraceException.resources(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "the arguments of " + rows + " calls of function " + UserCode.name(key) + " have " + bytes
                            + " bytes");
        }
        UserWatch.Call watched = UserWatch.enter(key);
        try {
            ByteBuffer answer = lent(watched, worker -> {
                worker.start();
                if (rows == 0) {
                    return ByteBuffer.allocate(0);
                }
                write(arguments, from, rows, bytes);
                return worker.call(request);
            });
            if (rows > 0) {
                returned.read(answer, from, rows, result);
            }
        } catch (PythonFailure e) {
            failedRow = e.row() < 0 || e.row() >= rows ? -1 : from + e.row();
            MillraceException why = watched.why();
            throw why != null
                    ? why
                    : MillraceException.user(
                            SqlState.EXTERNAL_ROUTINE_EXCEPTION,
                            "function " + UserCode.name(key) + " failed: " + e.getMessage());
        } finally {
            watched.leave();
        }
    }

    private interface Use {
        ByteBuffer of(PythonWorker worker) throws PythonFailure;
    }

    /** What is done with a process, which is killed when the call is to end; then it is not used again. */
    private ByteBuffer lent(UserWatch.Call watched, Use use) throws PythonFailure {
        PythonWorker worker;
        try {
            worker = PythonWorkers.all().borrow(function);
        } catch (InterruptedException e) {
            MillraceException why = watched.why();
            throw why != null
                    ? why
                    : MillraceException.user(
                            SqlState.QUERY_CANCELED,
                            "function " + UserCode.name(key) + " was stopped while it waited for a process");
        }
        watched.endBy(worker::kill);
        boolean done = false;
        try {
            ByteBuffer answer = use.of(worker);
            done = true;
            return answer;
        } catch (PythonFailure e) {
            done = worker.isAlive();
            throw e;
        } finally {
            PythonWorkers.all().giveBack(worker, watched.endsByItself() && done && worker.isAlive());
        }
    }

    // ---- arguments -------------------------------------------------------------------------------------------------

    private long bytes(List<FieldVector> arguments, int from, int rows) {
        long bytes = 8;
        for (FieldVector column : arguments) {
            bytes += 5L + (rows + 7) / 8 + 4L * (rows + 1) + dataBytes(column, from, rows);
        }
        return bytes;
    }

    private static long dataBytes(FieldVector column, int from, int rows) {
        if (column instanceof BaseVariableWidthVector) {
            long offsets = column.getOffsetBufferAddress();
            return rows == 0 ? 0 : Memory.getInt(offsets + 4L * (from + rows)) - Memory.getInt(offsets + 4L * from);
        }
        return 16L * rows; // of the widest
    }

    private void write(List<FieldVector> arguments, int from, int rows, long bytes) {
        if (request.capacity() < bytes) {
            request = ByteBuffer.allocate((int) Math.min(MOST_BYTES, bytes + bytes / 4))
                    .order(ByteOrder.LITTLE_ENDIAN);
        }
        request.clear().putInt(0).putInt(rows);
        int bits = (rows + 7) / 8;
        for (int i = 0; i < arguments.size(); i++) {
            FieldVector column = arguments.get(i);
            DataType type = function.parameters().get(i);
            boolean nulls = column.getNullCount() > 0;
            boolean isBytes = column instanceof BaseVariableWidthVector;
            int length = isBytes ? (int) dataBytes(column, from, rows) : width(type, rows);
            request.put((byte) (nulls ? 1 : 0)).putInt(length);
            if (nulls) {
                copy(column.getValidityBufferAddress() + from / 8, bits);
            }
            long data = column.getDataBufferAddress();
            if (isBytes) {
                long offsets = column.getOffsetBufferAddress() + 4L * from;
                copy(offsets, 4 * (rows + 1));
                data += Memory.getInt(offsets);
            } else {
                data += width(type, from);
            }
            copy(data, length);
        }
        request.putInt(0, request.position() - 4);
    }

    /** Bytes of so many values that are of one width. */
    private static int width(DataType type, int rows) {
        return type.kind() == DataType.Kind.BOOLEAN ? (rows + 7) / 8 : rows * type.fixedWidth();
    }

    private void copy(long address, int bytes) {
        Memory.copyOut(address, request.array(), request.position(), bytes);
        request.position(request.position() + bytes);
    }

    @Override
    public void close() {} // processes are given back with each call
}
