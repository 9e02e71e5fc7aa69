package dev.millrace.sketch.query;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import java.util.Optional;

/** Values as Java objects. */
final class Values {
    private Values() {}

    /** A Double, Long, Boolean or String; empty for NULL. Values that SQL has as equal are. */
    static Optional<Object> of(Sketch sketch, int feature, int rank) {
        Column column = sketch.column(feature);
        if (rank == column.symbols().size()) {
            return Optional.empty();
        }
        return Optional.of(
                switch (sketch.schema().feature(feature).kind()) {
                    case TEXT -> ((TextSymbols) column.symbols()).text(rank);
                    case BOOLEAN -> column.numbers().whole(rank) != 0;
                    case WHOLE -> column.numbers().whole(rank);
                    case NUMBER -> column.numbers().value(rank) + 0.0; // one 0
                });
    }
}
