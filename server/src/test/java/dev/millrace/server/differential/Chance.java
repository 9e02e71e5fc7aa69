package dev.millrace.server.differential;

import java.util.List;
import java.util.SplittableRandom;

/** Random choices from a seed. */
final class Chance {
    private final SplittableRandom random;

    Chance(long seed) {
        random = new SplittableRandom(seed);
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    /** From and to inclusive. */
    int between(int from, int to) {
        return random.nextInt(from, to + 1);
    }

    long nextLong() {
        return random.nextLong();
    }

    boolean percent(int percent) {
        return random.nextInt(100) < percent;
    }

    @SafeVarargs
    final <T> T of(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    <T> T of(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }
}
