package dev.millrace.testing.harness;

import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * What a test writes of one operator time and again, of all key groups: each time all or what changed, kept or in vain.
 *
 * <pre>
 *   begin -> freeze -> add -> writeMore(writer)* -> complete, or not
 * </pre>
 */
public final class WrittenChain {
    private List<MemorySnapshot> kept = List.of();
    private List<MemorySnapshot> last = List.of();
    private boolean isComplete;
    private StateWriter writer = (state, group) -> {
        throw new IllegalStateException("nothing was begun");
    };

    /** What the operator may go on from. @param isKept whether what was written last counts, if it is complete */
    public Kept begin(boolean isKept) {
        boolean isLast = isComplete && isKept;
        kept = isLast ? last : kept;
        return kept.isEmpty() ? Kept.NOTHING : isLast ? Kept.ALL : Kept.ALL_BUT_LAST;
    }

    /** The operator was frozen. */
    public void add(boolean isWhole) {
        MemorySnapshot step = new MemorySnapshot();
        last = new ArrayList<>(isWhole ? List.of() : kept);
        last.add(step);
        isComplete = false;
        writer = step.gradualWriter(KeyGroups.ALL);
    }

    public StateWriter writer() {
        return writer;
    }

    /** All of it was written. */
    public void complete() {
        isComplete = true;
    }

    /** What an instance owning these groups restores of what was written last, and of what that goes on from. */
    public StateReader reader(KeyGroups owned) {
        List<StateReader> steps = last.stream().map(step -> step.reader(owned)).toList();
        return (state, restore) -> steps.forEach(step -> step.keyGroups(state, restore));
    }
}
