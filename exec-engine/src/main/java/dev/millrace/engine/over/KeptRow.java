package dev.millrace.engine.over;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;

/**
 * A row in memory, known by the address of its bytes.
 *
 * <pre>
 *   next pending row, 8 bytes | weight while pending, then the address of its results | length, 8 bytes | bytes
 * </pre>
 *
 * Results are a length of 8 bytes and bytes, known by the address of the bytes; 0 where nothing was emitted. Where they could not be
 * computed they are the failure instead, as {@link FailureText} has it, and the complement of the length.
 */
final class KeptRow {
    private static final int NEXT = -24;
    private static final int WORD = -16;
    private static final int LENGTH = -8;
    private static final int HEADER = 24;
    private static final int RESULT_HEADER = 8;

    private KeptRow() {}

    static long create(long bytes, int length, StateMemory memory) {
        long row = memory.allocate(HEADER + length) + HEADER;
        Memory.putLong(row + NEXT, 0);
        Memory.putLong(row + WORD, 0);
        Memory.putLong(row + LENGTH, length);
        Memory.copy(bytes, row, length);
        return row;
    }

    static void free(long row, StateMemory memory) {
        memory.free(row - HEADER, HEADER + length(row));
    }

    static int length(long row) {
        return (int) Memory.getLong(row + LENGTH);
    }

    static long next(long row) {
        return Memory.getLong(row + NEXT);
    }

    static void setNext(long row, long next) {
        Memory.putLong(row + NEXT, next);
    }

    static long weight(long row) {
        return Memory.getLong(row + WORD);
    }

    static void setWeight(long row, long weight) {
        Memory.putLong(row + WORD, weight);
    }

    static long result(long row) {
        return Memory.getLong(row + WORD);
    }

    static void setResult(long row, long result) {
        Memory.putLong(row + WORD, result);
    }

    static long createResult(long bytes, int length, StateMemory memory) {
        long result = memory.allocate(RESULT_HEADER + length) + RESULT_HEADER;
        Memory.putLong(result - RESULT_HEADER, length);
        Memory.copy(bytes, result, length);
        return result;
    }

    static long createFailure(MillraceException why, StateMemory memory) {
        byte[] text = FailureText.bytes(FailureText.shortened(why));
        long result = memory.allocate(RESULT_HEADER + text.length) + RESULT_HEADER;
        Memory.putLong(result - RESULT_HEADER, ~text.length);
        Memory.copyIn(text, 0, result, text.length);
        return result;
    }

    static boolean isFailure(long result) {
        return Memory.getLong(result - RESULT_HEADER) < 0;
    }

    static MillraceException failure(long result) {
        byte[] bytes = new byte[resultLength(result)];
        Memory.copyOut(result, bytes, 0, bytes.length);
        return FailureText.of(bytes);
    }

    static void freeResult(long result, StateMemory memory) {
        memory.free(result - RESULT_HEADER, RESULT_HEADER + resultLength(result));
    }

    static int resultLength(long result) {
        long length = Memory.getLong(result - RESULT_HEADER);
        return (int) (length < 0 ? ~length : length);
    }

    static boolean hasBytes(long result, long bytes, int length) {
        return Memory.getLong(result - RESULT_HEADER) == length && Memory.equal(result, bytes, length);
    }
}
