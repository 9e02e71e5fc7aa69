package dev.millrace.engine.epoch;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One epoch for several outputs of a domain: the newest that any of them shows. Until the cut is closed none of them
 * publishes a later one; it {@link #isReached} when those behind have come as far. Outputs of other domains share no rows,
 * and each domain among them has an epoch of its own.
 *
 * <p>Cuts that overlap do not block each other: of all that hold an output back, the one of the least epoch needs nothing
 * that another forbids, so it is reached, and closed.
 */
public final class Cut implements AutoCloseable {
    private final Epochs epochs;
    private final Map<EpochOutput, Long> epochOf = new LinkedHashMap<>();

    /** By who holds the lock. */
    Cut(Epochs epochs, Collection<EpochOutput> outputs) {
        this.epochs = epochs;
        Map<EpochDomain, Long> newest = new HashMap<>();
        outputs.forEach(output -> newest.merge(output.domain, output.publishedThrough, Math::max));
        for (EpochOutput output : outputs) {
            epochOf.put(output, newest.get(output.domain));
            output.cuts.add(this);
        }
    }

    long epochOf(EpochOutput output) {
        return Objects.requireNonNull(epochOf.get(output));
    }

    /** Those that it held back, which it does no more. By who holds the lock. */
    List<EpochOutput> release() {
        epochOf.keySet().forEach(output -> output.cuts.remove(this));
        return List.copyOf(epochOf.keySet());
    }

    /** By who holds the lock. */
    boolean isReachedNow() {
        return epochOf.entrySet().stream()
                .allMatch(entry ->
                        entry.getKey().pending.stream().limit(1).allMatch(next -> next.epoch > entry.getValue()));
    }

    /** Whether all outputs show the epoch; any thread, told by the engine's signal. */
    public boolean isReached() {
        return epochs.atomically(this::isReachedNow);
    }

    /** Lets the outputs go on. */
    @Override
    public void close() {
        epochs.release(this);
    }
}
