package dev.millrace.connectors.nexmark;

import dev.millrace.connectors.random.Draws;

/**
 * Log-uniform prices over six decades, 100 to 100,000,000: ten bits of a draw choose a piece of the exponential, the
 * rest interpolates within it, in whole numbers.
 */
final class Prices {
    private static final int PIECES = 1024;
    private static final int PIECE_SHIFT = 64 - 10;
    private static final long[] FROM = new long[PIECES];
    private static final long[] WIDTH = new long[PIECES];

    static {
        for (int piece = 0; piece < PIECES; piece++) {
            FROM[piece] = at(piece);
            WIDTH[piece] = at(piece + 1) - FROM[piece];
        }
    }

    private Prices() {}

    private static long at(int piece) {
        return Math.round(100 * StrictMath.pow(10, 6.0 * piece / PIECES));
    }

    static long price(long draw) {
        int piece = (int) (draw >>> PIECE_SHIFT);
        return FROM[piece] + Draws.below(draw, WIDTH[piece]);
    }
}
