package dev.millrace.condense;

import java.util.OptionalInt;
import java.util.Set;

/**
 * What readers of sketches can say beyond the values that they show. They follow a {@link Condensation}, and give {@link ErrorColumns}.
 *
 * @param time the column of the relation of whose values they only need to know between which they lie, if there is one
 * @param inexact the columns of the relation whose values may be off, each within the error that is given beside it; all others are exact
 */
public record Condensing(OptionalInt time, Set<Integer> inexact) {
    public Condensing {
        inexact = Set.copyOf(inexact);
    }
}
