package dev.millrace.server.differential;

import dev.millrace.server.differential.RandomQueries.Generated;
import dev.millrace.server.differential.RandomRound.Disagreement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Makes a failing query smaller: leaves out some of the choices that made it, or makes them simpler, and keeps what still
 * fails on the same rows (as Hypothesis does; MacIver and Donaldson, ECOOP 2020).
 */
final class Shrinking {
    private static final int MOST_TRIES = 400;
    private static final long MOST_NANOS = 60_000_000_000L;

    private final long seed;
    private final Function<Chance, Generated> generator;
    private final long untilNanos = System.nanoTime() + MOST_NANOS;
    private List<Integer> best;
    private Disagreement failure;
    private int tries;

    Shrinking(long seed, Function<Chance, Generated> generator, List<Integer> choices, Disagreement failure) {
        this.seed = seed;
        this.generator = generator;
        this.best = choices;
        this.failure = failure;
    }

    /** The failure of the smallest query found. */
    Disagreement run() {
        for (int block = Math.max(1, best.size() / 2); block > 0; block /= 2) {
            for (int at = 0; at < best.size() && tries < MOST_TRIES && System.nanoTime() < untilNanos; ) {
                List<Integer> without = new ArrayList<>(best);
                without.subList(at, Math.min(at + block, best.size())).clear();
                List<Integer> simpler = new ArrayList<>(best);
                simpler.subList(at, Math.min(at + block, best.size())).replaceAll(choice -> 0);
                if (!takes(without) && !takes(simpler)) {
                    at += block;
                } else if (best.equals(simpler)) {
                    at += block;
                }
            }
        }
        return failure;
    }

    private boolean takes(List<Integer> choices) {
        if (choices.equals(best)) {
            return false;
        }
        tries++;
        Chance chance = Chance.replaying(choices);
        Generated query = generator.apply(chance);
        if (query.text().ours().length() > length()) {
            return false;
        }
        Optional<Disagreement> found = failure(query);
        found.ifPresent(each -> {
            best = choices;
            failure = each;
        });
        return found.isPresent();
    }

    private int length() {
        return generator.apply(Chance.replaying(best)).text().ours().length();
    }

    private Optional<Disagreement> failure(Generated query) {
        try (RandomRound round = new RandomRound(seed)) {
            round.run(List.of(query));
            return Optional.empty();
        } catch (Disagreement e) {
            return Optional.of(e);
        } catch (AssertionError | RuntimeException e) {
            return Optional.empty(); // another failure, such as one of the oracle
        }
    }
}
