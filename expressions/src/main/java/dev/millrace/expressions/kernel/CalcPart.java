package dev.millrace.expressions.kernel;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;

/**
 * What generated parts of kernels extend: one value of a row, cut out of an expression that is too long for one method. The
 * kernel calls it where the value is needed. Values go in and out as words, so that the kernel need not know the class.
 * One thread at a time, the kernel's.
 */
public abstract class CalcPart extends KernelCode {
    /** What the kernel has computed already: one word for each part of a value, and one for whether it is NULL. */
    public final long[] given = new long[MOST_GIVEN];

    /** Whether the value is NULL. */
    public boolean isNull;

    /** The parts of the value that {@link #compute} found; as many as its type has. */
    public long word0;

    public long word1;
    public long word2;

    public static final int MOST_GIVEN = 32;

    /** @param images the kernel's */
    protected CalcPart(KernelConstants literals, NestedImages images) {
        super(literals, images);
    }

    /** Computes the value of a row. */
    public abstract void compute(Batch in, int row);

    /** A part of a value as a word. */
    public static String toWord(String javaType, String code) {
        return switch (javaType) {
            case "boolean" -> "(" + code + " ? 1L : 0L)";
            case "float" -> "Float.floatToRawIntBits(" + code + ")";
            case "double" -> "Double.doubleToRawLongBits(" + code + ")";
            default -> code;
        };
    }

    /** The part of a value that a word is. */
    public static String fromWord(String javaType, String word) {
        return switch (javaType) {
            case "boolean" -> word + " != 0L";
            case "int" -> "(int) " + word;
            case "float" -> "Float.intBitsToFloat((int) " + word + ")";
            case "double" -> "Double.longBitsToDouble(" + word + ")";
            default -> word;
        };
    }
}
