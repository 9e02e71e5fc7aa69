package dev.millrace.sketch.condense;

import dev.millrace.connector.ColumnPredicate;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.column.Symbols;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.form.SymbolFilter;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.sketch.time.Times;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * Which sketches have no row, as they show them, that meets conditions: by their times, and by the values that occur in them, without looking at
 * rows. As a {@link SegmentFilter} it says so before rows are decoded. Immutable.
 */
public final class SketchBounds implements SegmentFilter {
    private record OfFeature(String name, ColumnPredicate predicate) {}

    private final List<OfFeature> features = new ArrayList<>();
    private long lowMicros = Long.MIN_VALUE;
    private long highMicros = Long.MAX_VALUE;

    /**
     * @param predicates over the columns of {@code schema}; those of columns that a sketch does not have as features are not looked at
     * @param time which column is the time of sketches; -1 if none is
     */
    public SketchBounds(List<ColumnPredicate> predicates, Schema schema, int time) {
        for (ColumnPredicate predicate : predicates) {
            if (predicate.column() == time) {
                take(predicate);
            } else {
                features.add(new OfFeature(schema.field(predicate.column()).name(), predicate));
            }
        }
    }

    private void take(ColumnPredicate predicate) {
        if (predicate.value().isEmpty() || !(predicate.value().get() instanceof Long micros)) {
            return;
        }
        switch (predicate.comparison()) {
            case GE -> lowMicros = Math.max(lowMicros, micros);
            case GT -> lowMicros = Math.max(lowMicros, micros == Long.MAX_VALUE ? micros : micros + 1);
            case LE -> highMicros = Math.min(highMicros, micros);
            case LT -> highMicros = Math.min(highMicros, micros == Long.MIN_VALUE ? micros : micros - 1);
            case EQ -> {
                lowMicros = Math.max(lowMicros, micros);
                highMicros = Math.min(highMicros, micros);
            }
            case NE, IS_NULL, IS_NOT_NULL -> {}
        }
    }

    /** No row is wanted that is before. */
    public long lowMicros() {
        return lowMicros;
    }

    /** No row is wanted that is behind. */
    public long highMicros() {
        return highMicros;
    }

    /** Whether a sketch may show a row that meets all conditions. */
    public boolean mayMeet(Sketch sketch) {
        if (!mayMeet(sketch.schema(), sketch.times())) {
            return false;
        }
        for (int f = 0; f < sketch.schema().size(); f++) {
            Column column = sketch.column(f);
            if (!mayMeet(sketch.schema().feature(f), column.symbols(), column.nullCount(), column.rows())) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean mayMeet(SketchSchema schema, Times times) {
        if (!times.ordered()) {
            return true;
        }
        long perSecond = schema.ticksPerSecond();
        return ArrowOutput.micros(times.at(0), perSecond) <= highMicros
                && ArrowOutput.micros(times.at(times.rows() - 1), perSecond) >= lowMicros;
    }

    @Override
    public SymbolFilter ofFeature(SketchSchema schema, int feature) {
        if (features.isEmpty()) {
            return SymbolFilter.ANY;
        }
        Feature of = schema.feature(feature);
        return (symbols, nulls, rows) -> mayMeet(of, symbols, nulls, rows);
    }

    private boolean mayMeet(Feature feature, Symbols symbols, int nulls, int rows) {
        for (OfFeature condition : features) {
            if (feature.name().equals(condition.name())
                    && !mayMeet(condition.predicate(), feature, symbols, nulls, rows)) {
                return false;
            }
        }
        return true;
    }

    private static boolean mayMeet(ColumnPredicate predicate, Feature feature, Symbols symbols, int nulls, int rows) {
        Object value = predicate.value().orElse("");
        return switch (predicate.comparison()) {
            case IS_NULL -> nulls > 0;
            case IS_NOT_NULL -> nulls < rows;
            case NE -> true;
            case EQ, LT, LE, GT, GE -> {
                if (symbols instanceof TextSymbols texts) {
                    // The order of texts is the database's, and not known here; what is padded is equal to what is not.
                    yield predicate.comparison() != ColumnPredicate.Comparison.EQ
                            || feature.type().kind() != DataType.Kind.TEXT
                            || texts.texts().contains(value);
                }
                yield anyMeets((NumberSymbols) symbols, feature, predicate.comparison(), value);
            }
        };
    }

    private static boolean anyMeets(
            NumberSymbols symbols, Feature feature, ColumnPredicate.Comparison comparison, Object limit) {
        for (int rank = 0; rank < symbols.size(); rank++) {
            int order;
            if (feature.kind() == Feature.Kind.NUMBER && limit instanceof Double number) {
                double shown = feature.isReal() ? (float) symbols.value(rank) : symbols.value(rank);
                order = Double.compare(shown + 0.0, number + 0.0);
            } else if (feature.kind() == Feature.Kind.WHOLE && limit instanceof Long number) {
                order = Long.compare(ArrowOutput.within(feature.type(), symbols.whole(rank)), number);
            } else {
                return true;
            }
            boolean meets = switch (comparison) {
                case EQ -> order == 0;
                case LT -> order < 0;
                case LE -> order <= 0;
                case GT -> order > 0;
                case GE -> order >= 0;
                case NE, IS_NULL, IS_NOT_NULL -> true;
            };
            if (meets) {
                return true;
            }
        }
        return false;
    }
}
