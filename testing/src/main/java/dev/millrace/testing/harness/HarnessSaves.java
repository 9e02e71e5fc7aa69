package dev.millrace.testing.harness;

import dev.millrace.operator.Freezing;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Assertions;

/**
 * What is written of the instances of an operator as they go on, time and again: all of it or what changed, to its end or not, kept or in
 * vain. The last time is what others go on from.
 */
final class HarnessSaves {
    /** One instance, and what was written of it: in the order in which it is read. */
    private static final class Chain {
        private final Operator operator;
        private final KeyGroups owned;
        private List<MemorySnapshot> kept = List.of();
        private List<MemorySnapshot> last = List.of();
        private boolean isComplete; // what was written last, step by step
        private Optional<FrozenState> frozen = Optional.empty();
        private Optional<StateWriter> writer = Optional.empty();

        Chain(Operator operator, KeyGroups owned) {
            this.operator = operator;
            this.owned = owned;
        }
    }

    private final RandomGenerator random;
    private final List<Chain> chains = new ArrayList<>();
    private boolean isLastKept;
    private int changes;

    HarnessSaves(RandomGenerator random) {
        this.random = random;
    }

    void add(Operator operator, KeyGroups owned) {
        chains.add(new Chain(operator, owned));
    }

    /** How often only what changed was written. */
    int changes() {
        return changes;
    }

    boolean isUnderWay() {
        return chains.stream().anyMatch(chain -> chain.frozen.isPresent());
    }

    /** Freezes all as they are now; what was under way comes to nothing. */
    void begin() {
        boolean lastIsKept = isLastKept && !isUnderWay();
        boolean areLost = random.nextInt(16) == 0;
        for (Chain chain : chains) {
            giveUp(chain);
            List<MemorySnapshot> before =
                    areLost ? List.of() : lastIsKept && chain.isComplete ? chain.last : chain.kept;
            Kept kept = before.isEmpty() ? Kept.NOTHING : lastIsKept && chain.isComplete ? Kept.ALL : Kept.ALL_BUT_LAST;
            chain.kept = before;
            chain.frozen = chain.operator instanceof Freezing freezing ? freezing.freeze(kept) : Optional.empty();
            MemorySnapshot step = new MemorySnapshot();
            List<MemorySnapshot> steps = new ArrayList<>();
            chain.isComplete = false;
            if (chain.frozen.isPresent()) {
                if (!chain.frozen.get().isWhole()) {
                    Assertions.assertNotEquals(Kept.NOTHING, kept, "there is nothing to go on from");
                    steps.addAll(before);
                    changes++;
                }
                chain.writer = Optional.of(step.gradualWriter(chain.owned));
            } else {
                Assertions.assertDoesNotThrow(() -> chain.operator.snapshot(step.writer(chain.owned)));
                chain.kept = List.of();
            }
            steps.add(step);
            chain.last = steps;
        }
        isLastKept = random.nextInt(3) > 0;
    }

    /** Writes some more of what is under way, or none. */
    void goOn() {
        for (Chain chain : chains) {
            if (chain.frozen.isPresent() && random.nextInt(8) == 0) {
                writeMore(chain);
            }
        }
    }

    /** Writes all that is under way. */
    void finish() {
        for (Chain chain : chains) {
            while (chain.frozen.isPresent()) {
                writeMore(chain);
            }
        }
    }

    private static void writeMore(Chain chain) {
        boolean isDone =
                Assertions.assertDoesNotThrow(() -> chain.frozen.orElseThrow().writeMore(chain.writer.orElseThrow()));
        if (isDone) {
            giveUp(chain);
            chain.isComplete = true;
        }
    }

    private static void giveUp(Chain chain) {
        chain.frozen.ifPresent(FrozenState::close);
        chain.frozen = Optional.empty();
    }

    /** What an instance owning these groups restores of the last time. */
    StateReader reader(KeyGroups owned) {
        List<StateReader> steps = chains.stream()
                .flatMap(chain -> chain.last.stream())
                .map(step -> step.reader(owned))
                .toList();
        return (state, restore) -> steps.forEach(step -> step.keyGroups(state, restore));
    }

    /** The instances are about to be closed. */
    void close() {
        chains.forEach(HarnessSaves::giveUp);
    }
}
