package dev.millrace.engine.aggregate.number;

import dev.millrace.engine.state.Hashing;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;

/** Values of at most eight bytes as integers of the same order: doubles by {@link Doubles#ordered}, others as they are. */
public final class OrderedWords {
    private OrderedWords() {}

    private static boolean isInexact(DataType type) {
        return type.kind() == Kind.DOUBLE || type.kind() == Kind.REAL;
    }

    public static long load(DataType type, long data, int row) {
        return switch (type.kind()) {
            case DOUBLE -> Doubles.ordered(Memory.getDouble(data + 8L * row));
            case REAL -> Doubles.ordered(Memory.getFloat(data + 4L * row));
            default -> Hashing.word(type, data, row);
        };
    }

    /** The number that a percentile interpolates between. */
    public static double number(DataType type, long word) {
        return isInexact(type) ? Doubles.fromOrdered(word) : word;
    }

    /** Writes values to a vector's data. */
    public static void store(DataType type, long[] words, int count, long data) {
        for (int i = 0; i < count; i++) {
            switch (type.kind()) {
                case DOUBLE -> Memory.putDouble(data + 8L * i, Doubles.fromOrdered(words[i]));
                case REAL -> Memory.putFloat(data + 4L * i, (float) Doubles.fromOrdered(words[i]));
                case SMALLINT -> Memory.putShort(data + 2L * i, (short) words[i]);
                case INTEGER, DATE -> Memory.putInt(data + 4L * i, (int) words[i]);
                default -> Memory.putLong(data + 8L * i, words[i]);
            }
        }
    }
}
