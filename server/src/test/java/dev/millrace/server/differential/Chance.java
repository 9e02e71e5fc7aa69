package dev.millrace.server.differential;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Random choices from a seed, or choices made before: what was chosen can be changed and replayed, which is how a failing
 * query is made smaller ({@link Shrinking}). Choices are best ordered from simple to involved.
 */
final class Chance {
    private final SplittableRandom random;
    private final List<Integer> given;
    private final List<Integer> made = new ArrayList<>();
    private final boolean replays;

    Chance(long seed) {
        this(new SplittableRandom(seed), List.of(), false);
    }

    private Chance(SplittableRandom random, List<Integer> given, boolean replays) {
        this.random = random;
        this.given = given;
        this.replays = replays;
    }

    /** The given choices, and the first of all when they are used up. */
    static Chance replaying(List<Integer> choices) {
        return new Chance(new SplittableRandom(0), List.copyOf(choices), true);
    }

    /** The choices so far. */
    List<Integer> made() {
        return List.copyOf(made);
    }

    /** Whether choices are those of a query that is made smaller. */
    boolean replays() {
        return replays;
    }

    int below(int bound) {
        int choice = random.nextInt(bound);
        if (replays) {
            choice = made.size() < given.size() ? given.get(made.size()) % bound : 0;
        }
        made.add(choice);
        return choice;
    }

    /** From and to inclusive. */
    int between(int from, int to) {
        return from + below(to - from + 1);
    }

    /** The first choice is no. */
    boolean percent(int percent) {
        return below(100) >= 100 - percent;
    }

    @SafeVarargs
    final <T> T of(T... choices) {
        return choices[below(choices.length)];
    }

    <T> T of(List<T> choices) {
        return choices.get(below(choices.size()));
    }
}
