package dev.millrace.engine.state;

import dev.millrace.memory.Memory;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;

/** Compares values of one vector, bit by bit; NULL equals NULL. Not for nested types. */
public final class ValuesEqual {
    private ValuesEqual() {}

    public static boolean equal(FieldVector vector, int a, int b) {
        long validity = vector.getValidityBufferAddress();
        boolean aValid = Memory.getBit(validity, a);
        if (aValid != Memory.getBit(validity, b)) {
            return false;
        }
        if (!aValid) {
            return true;
        }
        long data = vector.getDataBufferAddress();
        if (vector instanceof BitVector) {
            return Memory.getBit(data, a) == Memory.getBit(data, b);
        }
        if (vector instanceof BaseFixedWidthVector fixed) {
            int width = fixed.getTypeWidth();
            return Memory.equal(data + (long) a * width, data + (long) b * width, width);
        }
        long offsets = vector.getOffsetBufferAddress();
        int aStart = Memory.getInt(offsets + 4L * a);
        int bStart = Memory.getInt(offsets + 4L * b);
        int length = Memory.getInt(offsets + 4L * a + 4) - aStart;
        return length == Memory.getInt(offsets + 4L * b + 4) - bStart
                && Memory.equal(data + aStart, data + bStart, length);
    }
}
