package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which columns of a stretch are in its sketches: numbers that may be off, and what has few distinct values. Whole numbers may be
 * identifiers, of which one that is off is another, so they may be off only where that is said; texts that hardly repeat, and what sketches do not know, are
 * shorter as they are.
 *
 * @param features places of the columns, in the order of the sketch's features
 * @param isTimed whether the event time is that of the sketches
 * @param schema of the sketches; empty without features: then the stretch is exact
 */
record StretchColumns(List<Integer> features, boolean isTimed, Optional<SketchSchema> schema) {
    private static final int MOST_TEXTS = 256; // distinct ones of a category
    private static final int MOST_TEXT_BYTES = 1024;
    private static final int ROWS_OF_A_TEXT = 4;

    /** Chooses for rows of some batches, with the stream's columns first. */
    static StretchColumns of(SketchedForm form, List<Batch> rows) {
        List<Integer> features = new ArrayList<>();
        List<Feature> described = new ArrayList<>();
        for (int column = 0; column < form.stream().size(); column++) {
            int place = column;
            if (!form.keys().contains(column) && !form.eventTime().equals(Optional.of(column))) {
                feature(form, column, rows).ifPresent(feature -> {
                    features.add(place);
                    described.add(feature);
                });
            }
        }
        boolean isTimed = form.eventTime().isPresent()
                && rows.stream()
                        .noneMatch(batch -> batch.hasNulls(form.eventTime().get()));
        String timeName =
                isTimed ? form.stream().field(form.eventTime().orElseThrow()).name() : "";
        Optional<SketchSchema> schema = described.isEmpty()
                ? Optional.empty()
                : Optional.of(new SketchSchema(
                        timeName, SketchSchema.MICROS_PER_SECOND, isTimed ? form.timeErrorMicros() : 0, described));
        return new StretchColumns(List.copyOf(features), isTimed, schema);
    }

    private static Optional<Feature> feature(SketchedForm form, int column, List<Batch> rows) {
        String name = form.stream().field(column).name();
        DataType type = form.stream().type(column);
        boolean isOff = form.clause().mayBeOff(form.stream().field(column));
        boolean isFeature = switch (type.kind()) {
            case BOOLEAN -> true;
            case TEXT, VARCHAR -> areCategories(column, rows);
            default -> isOff;
        };
        Bound bound = isOff ? form.clause().errorOf(name) : Bound.exact();
        return isFeature ? Optional.of(new Feature(name, type, bound, Binning.SMALLEST)) : Optional.empty();
    }

    /** Whether texts are few and short. */
    private static boolean areCategories(int column, List<Batch> rows) {
        Set<String> distinct = new HashSet<>();
        int seen = 0;
        for (Batch batch : rows) {
            long offsets = batch.offsetsAddress(column);
            long lastLength = -1;
            String last = "";
            for (int row = 0; row < batch.rowCount(); row++) {
                if (batch.hasNulls(column) && !Memory.getBit(batch.validityAddress(column), row)) {
                    continue;
                }
                seen++;
                int from = Memory.getInt(offsets + 4L * row);
                int length = Memory.getInt(offsets + 4L * (row + 1)) - from;
                if (length > MOST_TEXT_BYTES) {
                    return false;
                }
                String text = KeptTexts.at(batch.dataAddress(column) + from, length);
                if (length != lastLength || !text.equals(last)) {
                    distinct.add(text);
                    last = text;
                    lastLength = length;
                }
                if (distinct.size() > MOST_TEXTS) {
                    return false;
                }
            }
        }
        return distinct.size() <= Math.max(1, seen / ROWS_OF_A_TEXT);
    }
}
