package dev.millrace.engine.state;

/**
 * Arrays for the length of one call, lent by the thread that makes it: a worker has them once, whereas arrays of their own would
 * be kept by each of ten thousand queries, as long as the largest batch that ever came. What an array holds when it is lent is
 * undefined. One that is not given back, because of an exception, is garbage and nothing worse.
 */
public final class Scratch {
    private static final int SMALLEST = 8; // 256 elements
    private static final int LARGEST = 17; // what is longer is rare, and made anew
    private static final int EACH = 6; // of a length are kept
    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};
    private static final ThreadLocal<Scratch> OF_THREAD = ThreadLocal.withInitial(Scratch::new);

    /** Elements that are kept, those of all lengths together. */
    private static final int MOST = 1 << 17;

    private final int[][][] ints = new int[LARGEST + 1][][]; // by the logarithm of their length, made when first needed
    private final int[] intCounts = new int[LARGEST + 1];
    private final long[][][] longs = new long[LARGEST + 1][][];
    private final int[] longCounts = new int[LARGEST + 1];
    private int kept;

    private Scratch() {}

    /** An array of at least so many elements. */
    public static int[] ints(int atLeast) {
        if (atLeast == 0) {
            return NO_INTS;
        }
        int size = size(atLeast);
        Scratch own = OF_THREAD.get();
        if (size > LARGEST || own.intCounts[size] == 0) {
            return new int[size > LARGEST ? atLeast : 1 << size];
        }
        int[] lent = own.ints[size][--own.intCounts[size]];
        own.kept -= lent.length;
        return lent;
    }

    /** An array of at least so many elements. */
    public static long[] longs(int atLeast) {
        if (atLeast == 0) {
            return NO_LONGS;
        }
        int size = size(atLeast);
        Scratch own = OF_THREAD.get();
        if (size > LARGEST || own.longCounts[size] == 0) {
            return new long[size > LARGEST ? atLeast : 1 << size];
        }
        long[] lent = own.longs[size][--own.longCounts[size]];
        own.kept -= lent.length;
        return lent;
    }

    /** Gives an array back that was lent, once, on any thread. */
    public static void free(int[] array) {
        Scratch own = OF_THREAD.get();
        int size = own.sizeOfKept(array.length);
        if (size >= 0 && own.intCounts[size] < EACH) {
            if (own.ints[size] == null) {
                own.ints[size] = new int[EACH][];
            }
            own.ints[size][own.intCounts[size]++] = array;
            own.kept += array.length;
        }
    }

    /** Gives an array back that was lent, once, on any thread. */
    public static void free(long[] array) {
        Scratch own = OF_THREAD.get();
        int size = own.sizeOfKept(array.length);
        if (size >= 0 && own.longCounts[size] < EACH) {
            if (own.longs[size] == null) {
                own.longs[size] = new long[EACH][];
            }
            own.longs[size][own.longCounts[size]++] = array;
            own.kept += array.length;
        }
    }

    private static int size(int atLeast) {
        return Math.max(SMALLEST, 32 - Integer.numberOfLeadingZeros(atLeast - 1));
    }

    /** The logarithm of an array's length, or -1 if it is left to the garbage collector. */
    private int sizeOfKept(int length) {
        int size = 31 - Integer.numberOfLeadingZeros(Math.max(1, length));
        boolean isLent = size >= SMALLEST && size <= LARGEST && length == 1 << size;
        return isLent && kept + length <= MOST ? size : -1;
    }
}
