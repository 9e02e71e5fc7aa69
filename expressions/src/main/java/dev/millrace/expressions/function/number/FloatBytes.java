package dev.millrace.expressions.function.number;

import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;

/** Floating-point numbers as the bytes of IEEE 754, the highest first: what PostgreSQL sends in binary. */
public final class FloatBytes {
    private FloatBytes() {}

    public static void ofDouble(double value, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(Double.BYTES);
        Memory.putLong(at, Long.reverseBytes(Double.doubleToRawLongBits(value)));
        buffer.end(at + Double.BYTES);
        out.written();
    }

    public static void ofReal(float value, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(Float.BYTES);
        Memory.putInt(at, Integer.reverseBytes(Float.floatToRawIntBits(value)));
        buffer.end(at + Float.BYTES);
        out.written();
    }
}
