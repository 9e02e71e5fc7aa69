package dev.millrace.sketch.query;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.schema.Feature;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What one feature's ranks in the cells of a segment are worth. Immutable. */
final class CellValues {
    private final int position; // of the feature among a cell's ranks
    private final int nullRank;
    private final @Nullable Points points; // of numbers
    private final @Nullable TextSymbols texts; // of texts

    CellValues(int position, Column column, Feature feature) {
        this.position = position;
        this.nullRank = column.symbols().size();
        this.texts = column.symbols() instanceof TextSymbols symbols ? symbols : null;
        this.points = texts == null ? new Points(column, feature) : null;
    }

    /** By aggregate, those of the same feature shared; null for a count of rows. */
    static @Nullable CellValues[] of(Layout layout, Sketch sketch) {
        @Nullable CellValues[] byPosition = new CellValues[layout.aggregated()];
        for (int p = 0; p < byPosition.length; p++) {
            int feature = layout.asked().get(p);
            byPosition[p] =
                    new CellValues(p, sketch.column(feature), sketch.schema().feature(feature));
        }
        @Nullable CellValues[] all = new CellValues[layout.aggregates()];
        for (int a = 0; a < all.length; a++) {
            all[a] = layout.hasFeature(a) ? byPosition[layout.position(a)] : null;
        }
        return all;
    }

    int rank(Cells cells, int cell) {
        return cells.rank(cell, position);
    }

    boolean isNull(int rank) {
        return rank == nullRank;
    }

    Points points() {
        return Objects.requireNonNull(points);
    }

    TextSymbols texts() {
        return Objects.requireNonNull(texts);
    }
}
